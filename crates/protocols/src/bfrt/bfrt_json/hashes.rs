//! Tables of hashes that can be set at run time, and of selectors' choices.

use super::{CHOSEN, FieldPlacement, Maker, bytes, common, field, index, kind, single};
use crate::bfrt::crc;
use serde_json::{Value, json};
use sojourn_control::schema::{Hash, Named};

impl Maker<'_> {
    /// Algorithm, inputs and results of a hash, each a table.
    pub(super) fn hash(&self, hash: &Hash) -> [Value; 3] {
        [self.algorithm(hash), self.inputs(hash), self.result(hash)]
    }

    fn of_hash(&self, of: &str, kind: u32, hash: &Hash, end: &str) -> Value {
        let mut made = self.table(of, kind, &hash.named, 1);
        made["name"] = format!("{}.{end}", self.full(&hash.named)).into();
        made
    }

    fn inputs_id(&self, hash: &Hash) -> u32 {
        self.id(kind::HASH_INPUTS, &hash.named)
    }

    fn algorithm(&self, hash: &Hash) -> Value {
        let mut made = self.of_hash("DynHashAlgorithm", kind::HASH_ALGORITHM, hash, "algorithm");
        let small = || json!({ "type": "uint32", "default_value": 0 });
        let flag = || json!({ "type": "bool", "default_value": false });
        made["data"] = json!([
            single(field::HASH_ROTATE, "rotate", small(), FieldPlacement::default()),
            single(field::HASH_SEED, "seed", small(), FieldPlacement::default()),
            single(field::HASH_MSB, "msb", flag(), FieldPlacement::default()),
            single(field::HASH_EXTEND, "extend", flag(), FieldPlacement::default()),
        ]);
        let names: Vec<&str> = crc::names().collect();
        let names = json!({ "type": "string", "choices": names, "default_value": crc::RANDOM });
        let datum = |id: u32, name: &str, mandatory: bool, ty: Value| {
            let mut made = common(id, name, ty, None);
            made["mandatory"] = mandatory.into();
            made["read_only"] = false.into();
            made
        };
        let large = || json!({ "type": "uint64", "default_value": 0 });
        let must = || json!({ "type": "uint64" });
        let action = |id: u32, name: &str, data: Value| {
            json!({
                "id": id,
                "name": name,
                "action_scope": "TableAndDefault",
                "annotations": [],
                "data": data,
            })
        };
        made["action_specs"] = json!([
            action(
                field::HASH_PREDEFINED,
                "pre_defined",
                json!([datum(field::HASH_NAME, "algorithm_name", false, names)])
            ),
            action(
                field::HASH_USER_DEFINED,
                "user_defined",
                json!([
                    datum(field::HASH_REVERSE, "reverse", false, flag()),
                    datum(field::HASH_POLYNOMIAL, "polynomial", true, must()),
                    datum(field::HASH_INIT, "init", false, large()),
                    datum(field::HASH_FINAL_XOR, "final_xor", false, large()),
                    datum(field::HASH_WIDTH, "hash_bit_width", false, must()),
                ])
            ),
        ]);
        made["depends_on"] = json!([self.inputs_id(hash)]);
        made
    }

    fn inputs(&self, hash: &Hash) -> Value {
        let mut made = self.of_hash("DynHashConfigure", kind::HASH_INPUTS, hash, "configure");
        let long = |default: u32| json!({ "type": "uint64", "default_value": default });
        let must = || FieldPlacement { mandatory: true, ..FieldPlacement::default() };
        let mut data = Vec::new();
        let mut constants = 0;
        for (input, id) in hash.inputs.iter().zip(1u32..) {
            let parts = json!([
                single(field::HASH_START, "start_bit", long(0), FieldPlacement::default()),
                single(field::HASH_LENGTH, "length", long(input.width), FieldPlacement::default()),
                single(field::HASH_ORDER, "order", json!({ "type": "uint64" }), must()),
            ]);
            let (mut name, mut notes) = (input.name.clone(), json!([]));
            if input.constant.is_some() {
                name = format!("constant{constants}_{0}_{0}w{name}", input.width);
                notes = json!([{ "name": "bfrt_p4_constant" }]);
                constants += 1;
            }
            let part = json!({
                "id": id,
                "name": name,
                "repeated": true,
                "annotations": notes,
                "container": parts,
            });
            data.push(json!({ "mandatory": false, "read_only": false, "singleton": part }));
        }
        made["data"] = Value::from(data);
        made
    }

    fn result(&self, hash: &Hash) -> Value {
        let mut made = self.of_hash("DynHashCompute", kind::HASH_VALUE, hash, "compute");
        let keys = hash.inputs.iter().filter(|input| input.constant.is_none()).zip(1u32..);
        let keys = keys.map(|(input, id)| {
            let mut key = index(id, &input.name);
            key["mandatory"] = false.into();
            key["type"] = bytes(input.width);
            key
        });
        made["key"] = Value::from(keys.collect::<Vec<_>>());
        let value = common(field::HASH_VALUE, "hash_value", bytes(hash.width), None);
        made["data"] = json!([{ "mandatory": false, "read_only": true, "singleton": value }]);
        made["read_only"] = true.into();
        made["depends_on"] = json!([self.inputs_id(hash)]);
        made
    }

    /// Table of the member that a selector's group chooses.
    pub(super) fn chosen(&self, selector: &Named) -> Value {
        let mut made = self.table("SelectorGetMember", kind::CHOSEN, selector, 1);
        made["name"] = format!("{}{CHOSEN}", self.full(selector)).into();
        let long = || json!({ "type": "uint64" });
        let mut keys = [
            index(field::CHOSEN_GROUP, "$SELECTOR_GROUP_ID"),
            index(field::HASH_VALUE, "hash_value"),
        ];
        keys.iter_mut().for_each(|key| key["type"] = long());
        made["key"] = Value::from(keys.to_vec());
        let member =
            single(field::CHOSEN_MEMBER, "$ACTION_MEMBER_ID", long(), FieldPlacement::default());
        made["data"] = json!([member]);
        made["depends_on"] = json!([self.id(kind::SELECTOR, selector)]);
        made
    }
}
