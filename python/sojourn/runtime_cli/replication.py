"""Commands about copies: mirror sessions, multicast groups and nodes."""

from sojourn.control import RemoveMirrorSession, SetMirrorSession
from sojourn.control.values import index
from sojourn.runtime_cli.session import MANY, Outcome, Query, Session, UsageError, take

_MOST = 0xFFFF
"""Sessions, groups, replication ids, nodes and ports are numbers of 16 bits."""


def mirroring_add(words: list[str], session: Session) -> Outcome:
    """`mirroring_add SESSION PORT`"""
    number, port = (index(word, "session or port", _MOST) for word in take(words, 2))
    session.sessions[number] = f"port {port}"
    return (SetMirrorSession(number, port=port),)


def mirroring_add_mc(words: list[str], session: Session) -> Outcome:
    """`mirroring_add_mc SESSION GROUP`"""
    number, group = (index(word, "session or group", _MOST) for word in take(words, 2))
    session.sessions[number] = f"multicast group {group}"
    return (SetMirrorSession(number, group=group),)


def mirroring_delete(words: list[str], session: Session) -> Outcome:
    """`mirroring_delete SESSION`"""
    number = index(take(words, 1)[0], "session", _MOST)
    session.sessions.pop(number, None)
    return (RemoveMirrorSession(number),)


def mirroring_get(words: list[str], _session: Session) -> Outcome:
    """`mirroring_get SESSION`"""
    number = index(take(words, 1)[0], "session", _MOST)
    return (Query("session", str(number)),)


def group_create(words: list[str], session: Session) -> Outcome:
    """`mc_mgrp_create GROUP`"""
    return (session.multicast.create_group(index(take(words, 1)[0], "group", _MOST)),)


def group_destroy(words: list[str], session: Session) -> Outcome:
    """`mc_mgrp_destroy GROUP`"""
    return (session.multicast.destroy_group(index(take(words, 1)[0], "group", _MOST)),)


def node_create(words: list[str], session: Session) -> Outcome:
    """`mc_node_create RID PORT...`; nodes get handles from 0 in order."""
    rid, *ports = take(words, 1, MANY)
    session.multicast.create_node(index(rid, "replication id", _MOST), _ports(ports))
    return ()


def node_update(words: list[str], session: Session) -> Outcome:
    """`mc_node_update NODE PORT...`"""
    node, *ports = take(words, 1, MANY)
    return tuple(session.multicast.update_node(index(node, "node", _MOST), _ports(ports)))


def node_destroy(words: list[str], session: Session) -> Outcome:
    """`mc_node_destroy NODE`"""
    return tuple(session.multicast.destroy_node(index(take(words, 1)[0], "node", _MOST)))


def node_associate(words: list[str], session: Session) -> Outcome:
    """`mc_node_associate GROUP NODE`"""
    group, node = (index(word, "group or node", _MOST) for word in take(words, 2))
    return (session.multicast.associate(group, node),)


def node_dissociate(words: list[str], session: Session) -> Outcome:
    """`mc_node_dissociate GROUP NODE`"""
    group, node = (index(word, "group or node", _MOST) for word in take(words, 2))
    return (session.multicast.dissociate(group, node),)


def _ports(words: list[str]) -> tuple[int, ...]:
    if "|" in words:
        if words[words.index("|") + 1 :]:
            raise UsageError("link aggregation groups (behind |) do not exist here")
        words = words[: words.index("|")]
    return tuple(index(word, "port", _MOST) for word in words)
