//! Suggestion of the known name that an unknown name most resembles.
//!
//! Uses edit distance only; must not depend on the kind of name.

/// The name in `known` that is nearest to `unknown`, if it is near enough to be a typing error.
///
/// A third of the letters may differ, and at least one; a name that differs only in upper and
/// lower case always counts. Among equally near names the first in alphabetical order wins, so
/// that the answer does not depend on the order of a hash table.
pub fn near_name<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (unknown.chars().count() / 3).max(1);
    let folded = unknown.to_ascii_lowercase();
    let distance = |name: &str| {
        if name.to_ascii_lowercase() == folded {
            return 0;
        }
        strsim::osa_distance(unknown, name)
    };
    known
        .into_iter()
        .filter(|name| *name != unknown && !name.is_empty())
        .filter(|name| name.len().abs_diff(unknown.len()) <= limit)
        .map(|name| (distance(name), name))
        .filter(|(distance, name)| *distance <= limit && *distance < name.chars().count())
        .min()
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::near_name;

    #[test]
    fn a_swapped_pair_of_letters_is_a_slip() {
        assert_eq!(near_name("contorl", ["parser", "control", "const"]), Some("control"));
    }

    #[test]
    fn a_name_in_other_case_is_near_however_long() {
        assert_eq!(near_name("NOACTION", ["NoAction", "NOTATION"]), Some("NoAction"));
    }

    #[test]
    fn a_short_name_is_not_replaced_as_a_whole() {
        assert_eq!(near_name("x", ["y", "in"]), None);
    }

    #[test]
    fn a_far_name_is_not_suggested() {
        assert_eq!(near_name("sojourn", ["backlog", "target"]), None);
    }
}
