"""Multicast groups as bmv2's commands build them: groups, nodes with handles, associations.

Knows only numbers; what a group makes of a packet is the switch's business.
"""

from dataclasses import dataclass, field

from sojourn.control.description import ControlError
from sojourn.control.operations import SetMulticastGroup


@dataclass
class Multicast:
    """The groups and nodes so far."""

    groups: dict[int, list[int]] = field(default_factory=dict)
    """Handles of the nodes of each group, in the order of association."""
    nodes: dict[int, tuple[int, tuple[int, ...]]] = field(default_factory=dict)
    """Replication id and ports of each node, by handle."""
    next_handle: int = 0

    def create_group(self, group: int) -> SetMulticastGroup:
        """A group without nodes."""
        if group in self.groups:
            raise ControlError(f"there is already a multicast group {group}")
        self.groups[group] = []
        return self._as_operation(group)

    def destroy_group(self, group: int) -> SetMulticastGroup:
        """Takes a group away: from then on it makes no copies."""
        self._members(group)
        del self.groups[group]
        return SetMulticastGroup(group, ())

    def create_node(self, rid: int, ports: tuple[int, ...]) -> int:
        """A node that no group uses yet; returns its handle, counted from 0."""
        handle = self.next_handle
        self.next_handle += 1
        self.nodes[handle] = (rid, ports)
        return handle

    def update_node(self, handle: int, ports: tuple[int, ...]) -> list[SetMulticastGroup]:
        """Gives a node other ports."""
        rid, _ = self._node(handle)
        self.nodes[handle] = (rid, ports)
        return [self._as_operation(group) for group, used in self.groups.items() if handle in used]

    def destroy_node(self, handle: int) -> list[SetMulticastGroup]:
        """Takes a node away, also out of its group."""
        self._node(handle)
        users = [group for group, used in self.groups.items() if handle in used]
        for group in users:
            self.groups[group].remove(handle)
        del self.nodes[handle]
        return [self._as_operation(group) for group in users]

    def associate(self, group: int, handle: int) -> SetMulticastGroup:
        """Puts a node into a group."""
        members = self._members(group)
        self._node(handle)
        if handle in members:
            raise ControlError(f"node {handle} is already in multicast group {group}")
        members.append(handle)
        return self._as_operation(group)

    def dissociate(self, group: int, handle: int) -> SetMulticastGroup:
        """Takes a node out of a group."""
        members = self._members(group)
        if handle not in members:
            raise ControlError(f"node {handle} is not in multicast group {group}")
        members.remove(handle)
        return self._as_operation(group)

    def _members(self, group: int) -> list[int]:
        if group not in self.groups:
            raise ControlError(
                f"there is no multicast group {group}; mc_mgrp_create {group} makes one"
            )
        return self.groups[group]

    def _node(self, handle: int) -> tuple[int, tuple[int, ...]]:
        if handle not in self.nodes:
            known = f"0 to {self.next_handle - 1}" if self.next_handle else "none"
            raise ControlError(
                f"there is no multicast node {handle} (handles are given by mc_node_create in "
                f"its order from 0; so far: {known})"
            )
        return self.nodes[handle]

    def _as_operation(self, group: int) -> SetMulticastGroup:
        return SetMulticastGroup(group, tuple(self.nodes[handle] for handle in self.groups[group]))
