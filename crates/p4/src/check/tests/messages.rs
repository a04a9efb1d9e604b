//! Tests of the checker's messages, word for word.

use super::{in_control, messages};

macro_rules! reads {
    ($($name:ident: $text:expr;)*) => {$(
        #[test]
        fn $name() {
            insta::assert_snapshot!(messages(&$text));
        }
    )*};
}

reads! {
    a_mismatch_shows_what_was_wanted_and_what_was_found: in_control("x = y;");
    an_unknown_name_gets_the_nearest_one: "const bit<8> timeout = 5;\nconst bit<8> x = timeuot;\n";
    an_unknown_field_gets_the_nearest_one:
        "header Ethernet { bit<16> type; }\ncontrol c(in Ethernet e) { apply { bit<16> t = e.tpye; } }\n";
    an_unknown_type_is_told_once: "struct S { bit32 a; }\ncontrol c(inout S s) { apply { s.a = 1; } }\n";
    a_duplicate_points_at_the_first: "struct S { bit<8> a; }\nheader S { bit<8> b; }\n";
    different_widths_show_both_sides: in_control("x = (bit<8>) (x + y);");
    a_condition_is_no_number: in_control("if (x) { x = 1; }");
    an_in_parameter_is_only_read: in_control("y = 1;");
    a_missing_argument_is_named: format!(
        "extern void f(in bit<8> first, in bit<8> second);\n{}", in_control("f(1);"));
    a_wrong_argument_shows_its_parameter: format!(
        "extern void f(in bit<8> first);\n{}", in_control("f(t);"));
    overloads_that_do_not_fit_are_listed: format!(
        "extern void f(in bit<8> a);\nextern void f(in bit<8> a, in bit<8> b);\n{}",
        in_control("f();"));
    a_type_that_cannot_be_inferred_says_how_to_write_it: format!(
        "extern T make<T>();\n{}", in_control("x = make();"));
    a_method_that_is_missing_gets_the_nearest_one: in_control("h.isvalid();");
    an_abstract_method_must_be_implemented:
        "extern E { E(); abstract bit<8> next(in bit<8> x); }\nE() e = { bit<8> nxt(in bit<8> x) { return x; } };\n";
    an_implementation_has_the_declared_parameters:
        "extern E { E(); abstract void f(inout bit<8> x); }\nE() e = { void f(in bit<16> x) {} };\n";
    an_action_outside_the_list_says_how_to_add_it:
        "control c(inout bit<8> x) { action a() {} action b() {}\ntable t { key = { x : exact; } actions = { a; }\ndefault_action = a(); const entries = { 1 : b(); } }\napply { t.apply(); } }\n";
    a_cast_of_sign_and_width_says_how_to_do_it: in_control("z = (int<8>) y;");
    a_literal_with_missing_fields_names_them: in_control("s = { a = 1 };");
    a_slice_beyond_the_width_shows_the_type: in_control("x = x[8:1];");
    a_table_result_is_no_value:
        "control c(inout bit<8> x) { table t { actions = { NoAction; } }\napply { if (t.apply()) { x = 1; } } }\n";
    a_static_assertion_speaks_for_itself:
        "const bool ok = static_assert(1 == 2, \"one is not two\");\n";
    a_type_that_does_not_fit_its_container: "header H { bit<8> a; string b; }\n";
    a_path_without_return: "bit<8> f(in bool b) {\n    if (b) { return 1; }\n}\n";
    several_errors_without_cascade: in_control(
        "bit<8> a = unknown; x = a + 1; undefined(a); y = a; t = s;");
}
