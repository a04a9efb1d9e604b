// The Portable Switch Architecture under the path at which p4c has it for bmv2.
#include "../psa.p4"
