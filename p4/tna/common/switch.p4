// One pipeline of the parts that common/ and the program declare: the last line of each program.
#ifndef COMMON_SWITCH_P4
#define COMMON_SWITCH_P4

Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser()) pipe;

Switch(pipe) main;

#endif
