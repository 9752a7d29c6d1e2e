// Data that travels compressed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

import { MOST_UNPACKED, unpacked, withWire } from "../../../svodviz/js/data/packed.js";

test("a compressed text is its data, anything else is data already", async () => {
  const data = { name: "<b>ü</b>", list: [1, null, "\u2028"] };
  assert.deepEqual(await unpacked(gzipSync(JSON.stringify(data)).toString("base64")), data);
  assert.equal(await unpacked(data), data);
  assert.equal(await unpacked(null), null);
});

test("what is no compressed text is refused", async () => {
  await assert.rejects(unpacked("no data at all"));
  await assert.rejects(unpacked(Buffer.from("plain").toString("base64")));
});

test("a text that unpacks to too much is left before it has", async () => {
  const bomb = gzipSync(Buffer.alloc(MOST_UNPACKED + 1e6, " ")).toString("base64");
  await assert.rejects(unpacked(bomb), /unpack to more than 128 MB/);
});

test("a model with other data is the same model in all else", () => {
  const said = [];
  const model = {
    get: (name) => `its ${name}`, set: (...it) => said.push(["set", ...it]),
    save_changes: () => said.push(["save"]), on: (...it) => said.push(["on", ...it]),
    off: (...it) => said.push(["off", ...it]), send: (...it) => said.push(["send", ...it]),
  };
  const made = withWire(model, "other");
  assert.deepEqual([made.get("wire"), made.get("state")], ["other", "its state"]);
  made.set("state", 1);
  made.save_changes();
  made.on("a", 2);
  made.off("a", 2);
  made.send(3, 4);
  assert.deepEqual(said,
    [["set", "state", 1], ["save"], ["on", "a", 2], ["off", "a", 2], ["send", 3, 4]]);
  assert.equal(withWire({ get: () => 0 }, 1).send, undefined);
});
