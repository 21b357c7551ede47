import { expect, test } from '@jest/globals';
import { isPrintable } from '../../../../base/text/printable.ts';
import { escapeTexts } from '../../../../web/model/log/escapeTexts.ts';
import { createClient } from '../../../../web/model/server/serverClient.ts';
import { worldOf } from '../../../../web/model/server/world.ts';
import { apiDetail, apiHistory, checkoutObject, designSnapshot, NOW } from '../../support/nodeOnPage.ts';

const HOSTILE = 'a\u001b[2Jb\u202egpj\u2066\r\nc';
const SAFE = 'a^[[2Jb\\u202egpj\\u2066\\r\\nc';

/** Replaces each string in a value with a hostile one. */
const hostile = <T>(value: T): T =>
  JSON.parse(JSON.stringify(value, (_, each) => (typeof each === 'string' ? HOSTILE : each)));

/** Returns all strings in a value, including keys and the contents of maps. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (value instanceof Map) return [...value].flatMap(textsIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => [key, ...textsIn(each)]);
}

const answering = (body: unknown, status = 200) =>
  createClient(async () => new Response(JSON.stringify(body), { status }));

test('the data of the page contains no control or bidirectional characters', () => {
  const texts = textsIn(worldOf(escapeTexts(hostile(designSnapshot))));
  expect(texts.length).toBeGreaterThan(20);
  expect(texts.filter((text) => !isPrintable(text) || text.includes('\n'))).toEqual([]);
  expect(texts).toContain(SAFE);
});

test('responses contain no control or bidirectional characters', async () => {
  const client = answering(hostile({ ...apiDetail, ...apiHistory, log: { lines: ['x'] } }));
  const detail = await client.detail('pod/u');
  const { tried } = await client.actorHistory('pod/u');
  expect([detail.answer, detail.log?.lines[0], tried[0]?.reason]).toEqual([SAFE, SAFE, SAFE]);
  for (const answer of [await client.snapshot(NOW), await client.story('', 0, NOW), await client.rail(), detail])
    expect(textsIn(answer).filter((text) => !isPrintable(text))).toEqual([]);
  await expect(answering({ message: HOSTILE }, 500).rail()).rejects.toThrow(SAFE);
});

test('line breaks of a manifest are retained', async () => {
  const manifest = { data: 'one\ntwo\u202e', 'key\u202e': 1 };
  const { manifest: shown } = await answering({ ...checkoutObject, manifest }).object('u');
  expect(shown).toEqual({ data: 'one\ntwo\\u202e', 'key\\u202e': 1 });
});
