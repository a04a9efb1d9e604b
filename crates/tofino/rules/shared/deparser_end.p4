//! The end of the egress deparser, and what follows it.

}

#include "main.p4"
