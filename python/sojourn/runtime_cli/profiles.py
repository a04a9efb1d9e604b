"""Commands about action profiles: members and groups, with handles from 0 in order."""

from collections.abc import Mapping

from sojourn.control import ActionCall, ControlError
from sojourn.control.operations import SetProfile
from sojourn.control.values import index
from sojourn.runtime_cli.session import MANY, Outcome, Profile, Session, take
from sojourn.runtime_cli.tables import call_of


def create_member(words: list[str], session: Session) -> Outcome:
    """`act_prof_create_member PROFILE ACTION ARGUMENT...`"""
    name, action, *arguments = take(words, 2, MANY)
    full, profile = _profile(session, name)
    profile.members[profile.next_member] = _call(session, full, action, arguments)
    profile.next_member += 1
    return _operation(full, profile)


def modify_member(words: list[str], session: Session) -> Outcome:
    """`act_prof_modify_member PROFILE ACTION MEMBER ARGUMENT...`"""
    name, action, member, *arguments = take(words, 3, MANY)
    full, profile = _profile(session, name)
    handle = _known(profile.members, index(member, "member"), "member", full)
    profile.members[handle] = _call(session, full, action, arguments)
    return _operation(full, profile)


def delete_member(words: list[str], session: Session) -> Outcome:
    """`act_prof_delete_member PROFILE MEMBER`"""
    name, member = take(words, 2)
    full, profile = _profile(session, name)
    handle = _known(profile.members, index(member, "member"), "member", full)
    users = [group for group, members in profile.groups.items() if handle in members]
    if users:
        raise ControlError(f"member {handle} is still in group {users[0]}")
    del profile.members[handle]
    return _operation(full, profile)


def create_group(words: list[str], session: Session) -> Outcome:
    """`act_prof_create_group PROFILE`"""
    full, profile = _profile(session, take(words, 1)[0])
    profile.groups[profile.next_group] = []
    profile.next_group += 1
    return _operation(full, profile)


def delete_group(words: list[str], session: Session) -> Outcome:
    """`act_prof_delete_group PROFILE GROUP`"""
    name, group = take(words, 2)
    full, profile = _profile(session, name)
    profile.groups[_known(profile.groups, index(group, "group"), "group", full)] = []
    return _operation(full, profile)


def add_to_group(words: list[str], session: Session) -> Outcome:
    """`act_prof_add_member_to_group PROFILE MEMBER GROUP`"""
    full, profile, member, group = _membership(words, session)
    if member in profile.groups[group]:
        raise ControlError(f"member {member} is already in group {group}")
    profile.groups[group].append(member)
    return _operation(full, profile)


def remove_from_group(words: list[str], session: Session) -> Outcome:
    """`act_prof_remove_member_from_group PROFILE MEMBER GROUP`"""
    full, profile, member, group = _membership(words, session)
    if member not in profile.groups[group]:
        raise ControlError(f"member {member} is not in group {group}")
    profile.groups[group].remove(member)
    return _operation(full, profile)


def _membership(words: list[str], session: Session) -> tuple[str, Profile, int, int]:
    name, member, group = take(words, 3)
    full, profile = _profile(session, name)
    return (
        full,
        profile,
        _known(profile.members, index(member, "member"), "member", full),
        _known(profile.groups, index(group, "group"), "group", full),
    )


def _profile(session: Session, name: str) -> tuple[str, Profile]:
    found = session.program.profile(name)
    return found.name, session.profiles.setdefault(found.name, Profile())


def _call(session: Session, profile: str, action: str, arguments: list[str]) -> ActionCall:
    users = [table for table in session.program.tables if table.implementation == profile]
    if not users:
        raise ControlError(f"no table uses action profile {profile}")
    return call_of(users[0], action, arguments)


def _known(handles: Mapping[int, object], handle: int, what: str, profile: str) -> int:
    if handle not in handles:
        known = ", ".join(map(str, handles)) or "none"
        raise ControlError(f"{profile} has no {what} {handle} (so far: {known})")
    return handle


def _operation(name: str, profile: Profile) -> Outcome:
    groups = {group: tuple(members) for group, members in profile.groups.items()}
    return (SetProfile(name, dict(profile.members), groups),)
