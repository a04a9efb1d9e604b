"""In-band Network Telemetry: what switches wrote into packets and reported, read from captures."""
