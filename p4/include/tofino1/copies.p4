// What a deparser can send besides the packet. Each statement stands in a deparser inside
// `if (...mirror_type == N)`, `resubmit_type` or `digest_type`; the constructor repeats N.
#ifndef SOJOURN_TOFINO1_COPIES_P4
#define SOJOURN_TOFINO1_COPIES_P4

// A copy into the egress queue of a mirror session, `hdr` (a header, at most 32 bytes) in front.
// From ingress: the packet as it was received. From egress: as the deparser has just written it.
extern Mirror {
    @deprecated("give Mirror the value of mirror_type")
    Mirror();
    Mirror(MirrorType_t mirror_type);
    void emit(in MirrorId_t session_id);
    void emit<T>(in MirrorId_t session_id, in T hdr);
}

// Ingress only: the packet once more through ingress, at most 8 bytes of data in front (16 on Tofino 2).
extern Resubmit {
    @deprecated("give Resubmit the value of resubmit_type")
    Resubmit();
    Resubmit(ResubmitType_t resubmit_type);
    void emit();
    void emit<T>(in T hdr);
}

// Ingress only: a record for the control plane.
extern Digest<T> {
    @deprecated("give Digest the value of digest_type")
    Digest();
    Digest(DigestType_t digest_type);
    void pack(in T data);
}

#endif
