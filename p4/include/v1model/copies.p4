// Copies of the packet, and packets that go round once more.
//
// Each call leaves a note that is read when the control has ended; of several of one kind the last
// counts. `index` names the fields of the program's metadata that are annotated
// `@field_list(index)`: they keep the values that they have at the end of the control, all other
// metadata begins with zero.
#ifndef SOJOURN_V1MODEL_COPIES_P4
#define SOJOURN_V1MODEL_COPIES_P4

// Copies through a clone session to the ports that the control plane gives it. In ingress the
// packet as it began ingress, in egress as egress has left it; the copies begin with egress.
extern void clone(in CloneType type, in bit<32> session);
extern void clone_preserving_field_list(in CloneType type, in bit<32> session, bit<8> index);

// From the end of ingress to the parser, as it began ingress. Wins over everything but a clone.
extern void resubmit_preserving_field_list(bit<8> index);

// From the end of egress to the parser, as the deparser has written it, unless egress drops it.
extern void recirculate_preserving_field_list(bit<8> index);

// The older forms name the fields in place.
@deprecated("use clone_preserving_field_list")
extern void clone3<T>(in CloneType type, in bit<32> session, in T data);
@deprecated("use resubmit_preserving_field_list")
extern void resubmit<T>(in T data);
@deprecated("use recirculate_preserving_field_list")
extern void recirculate<T>(in T data);

// A message to the control plane; `receiver` is not used.
extern void digest<T>(in bit<32> receiver, in T data);

// Cuts the packet to `length` bytes when it is sent; the smallest length of several counts.
extern void truncate(in bit<32> length);

#endif
