/**
 * Compares the two layers over the decoder, which derive their types from different descriptions: the reader of
 * manifests and API responses from the schemas of the node, and the test API server from the published schemas.
 */
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import * as z from 'zod/mini';
import { readObject } from '../../../../kubernetes/api/readObject.ts';
import { podManifestSchema } from '../../../../kubernetes/api/schema/pod.ts';
import { runtimeClassSchema } from '../../../../kubernetes/api/schema/runtimeClass.ts';
import { readConfig, toDataMap, toEncodedEntries } from '../../../../kubernetes/objects/configObject.ts';
import { parseDocuments } from '../../../../kubernetes/yaml/boundedYaml.ts';
import { decode } from '../../../../testing/apiserver/decode/decode.ts';
import { Failure } from '../../../../testing/apiserver/failures/failures.ts';
import { type JsonObject, objectAt } from '../../../../testing/apiserver/json.ts';
import { readObject as readBody } from '../../../../testing/apiserver/requests/body.ts';
import { groupVersion } from '../../../../testing/apiserver/resources/resource.ts';
import { type ObjectType, readTypes, type Type } from '../../../../testing/apiserver/schema/types.ts';

const types = readTypes();

interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

function typeOf({ group, version, kind }: Kind): ObjectType {
  const type = types.kind(group, version, kind);
  if (type === undefined) throw new Error(`there is no ${kind}`);
  return type;
}

/** A value of an object, e.g. the entries of a list. */
interface Position {
  readonly path: string;
  readonly type: Type;
  /** Returns the text of an object that contains only a value at this position. */
  readonly textWith: (value: string) => string;
}

/** Returns the text of a field with a value. */
type WriteField = (field: string, value: string) => string;

/** All positions in the fields of a type, including one entry of each list and map. */
function positionsIn(type: ObjectType, at: Position, write: WriteField): Position[] {
  return type.fields.flatMap((name) => {
    const field = type.field(name);
    if (field === undefined) return [];
    return positionsAt(
      {
        path: at.path === '' ? name : `${at.path}.${name}`,
        type: field.type,
        textWith: (value) => at.textWith(`{${write(JSON.stringify(name), value)}}`),
      },
      write,
    );
  });
}

function positionsAt(position: Position, write: WriteField): Position[] {
  const { path, type, textWith } = position;
  switch (type.kind) {
    case 'object':
      return [position, ...positionsIn(type.of, position, write)];
    case 'list': {
      const entry = { path: `${path}[0]`, type: type.items, textWith: (value: string) => textWith(`[${value}]`) };
      return [position, ...positionsAt(entry, write)];
    }
    case 'map': {
      const entry = { path: `${path}.k`, type: type.values, textWith: (value: string) => textWith(`{"k":${value}}`) };
      return [position, ...positionsAt(entry, write)];
    }
    default:
      return [position];
  }
}

const VALUES = [
  'null',
  '""',
  '0',
  '-1',
  '1.5',
  '2147483648',
  '9007199254740993',
  'true',
  '[]',
  '{}',
  '[null]',
  '{"a":null}',
  '"text"',
  '{"a":"b"}',
  '["a"]',
  '[["a"]]',
  '{"a":{"b":1}}',
  '[7]',
  '{"a":true}',
  '"1024Mi"',
  '" 1Gi "',
  '"1 Gi"',
  '"1e3"',
  '"+.5"',
  '"1.2.3"',
  '"0.9765625Ki"',
  '"2026-01-02T03:04:05Z"',
  '"2026-01-02T03:04:05,123+01:00"',
  '"2026-02-30T03:04:05Z"',
  '"2026-01-02"',
  '"aGk="',
  '"aG\\nk="',
  '"aGk"',
  '"a-k="',
];

/** Positions at which the readers differ on purpose. */
const isCompared = ({ path, type }: Position): boolean =>
  // The node supports one version of each kind, and reads the status of a pod leniently (`apiStatus.ts`).
  !/^(?:apiVersion|kind|status)\b/.test(path) && type.kind !== 'any';

/** A quantity that is a number is rounded by the JSON parser of the API server. */
const isRounded = (type: Type, value: string): boolean => type.kind === 'quantity' && value === '9007199254740993';

function parsedValue(text: string): unknown {
  const documents = parseDocuments(text, { tokens: 10_000, values: 10_000, characters: 10_000 });
  if (!Array.isArray(documents) || documents[0] === undefined || !('value' in documents[0])) throw new Error(text);
  return documents[0].value;
}

const REJECTED = 'rejected';

/** Returns the object as the test API server stores it. */
function readByServer(text: string, kind: Kind): JsonObject | typeof REJECTED {
  try {
    return readBody({ text, contentType: undefined }, kind, types, 'Ignore').object;
  } catch (error) {
    if (error instanceof Failure) return REJECTED;
    throw error;
  }
}

/** Returns the object that the node reads, as the test API server would store it. */
function readByNode(schema: z.ZodMiniObject, text: string, kind: Kind): JsonObject | typeof REJECTED {
  const result = readObject(schema, parsedValue(text));
  if ('problems' in result) return REJECTED;
  expect(z.safeParse(schema, result.object).error).toBeUndefined();
  // Safe cast, because the object was read from JSON.
  return decode(result.object as JsonObject, typeOf(kind)).object;
}

const withoutStatus = (result: JsonObject | typeof REJECTED): unknown => {
  if (result === REJECTED) return result;
  const { status: _, ...object } = result;
  return object;
};

describe.each([
  [podManifestSchema, { group: '', version: 'v1', kind: 'Pod' }],
  [runtimeClassSchema, { group: 'node.k8s.io', version: 'v1', kind: 'RuntimeClass' }],
])('a manifest and a request body', (schema, kind) => {
  const root: Position = {
    path: '',
    type: { kind: 'object', of: typeOf(kind) },
    textWith: (fields) => `{"apiVersion":"${groupVersion(kind)}","kind":"${kind.kind}",${fields.slice(1)}`,
  };

  /** Reads each value at each position in both ways. Returns the differences, and how often a value was rejected. */
  function compare(values: readonly string[], write: WriteField) {
    const differences: unknown[] = [];
    const counts = { accepted: 0, rejected: 0 };
    for (const { path, type, textWith } of positionsIn(typeOf(kind), root, write).filter(isCompared)) {
      for (const value of values.filter((each) => !isRounded(type, each))) {
        const text = textWith(value);
        const server = withoutStatus(readByServer(text, kind));
        const node = withoutStatus(readByNode(schema, text, kind));
        counts[server === REJECTED ? 'rejected' : 'accepted'] += 1;
        if (!isDeepStrictEqual(node, server)) differences.push({ path, value, node, server });
      }
    }
    return { differences, counts };
  }

  test(`with any value in any field of a ${kind.kind} are read alike`, () => {
    const { differences, counts } = compare(VALUES, (field, value) => `${field}:${value}`);
    expect(differences).toEqual([]);
    expect(Math.min(counts.accepted, counts.rejected)).toBeGreaterThan(200);
  });

  test(`with a repeated key in any object of a ${kind.kind} are read alike`, () => {
    for (const first of ['null', '{"a":"b"}']) {
      const { differences } = compare(
        ['null', '7', '"text"', '{}'],
        (field, value) => `${field}:${first},${field}:${value}`,
      );
      expect(differences).toEqual([]);
    }
  });
});

test.each([
  ['ConfigMap', 'data'],
  ['ConfigMap', 'binaryData'],
  ['Secret', 'data'],
  ['Secret', 'stringData'],
] as const)('the values of a %s in %s are read alike', (kind, field) => {
  for (const value of VALUES) {
    const text = `{"apiVersion":"v1","kind":"${kind}","metadata":{"name":"a"},"${field}":{"k":${value},"__proto__":""}}`;
    const server = readByServer(text, { group: '', version: 'v1', kind });
    const result = readConfig(kind, parsedValue(text));
    const isText = field === 'stringData' || (kind === 'ConfigMap' && field === 'data');
    const serverData =
      server === REJECTED
        ? REJECTED
        : Object.entries(objectAt(server, field)).map(([key, each]) => [
            key,
            Buffer.from(String(each), isText ? 'utf8' : 'base64').toString(),
          ]);
    const nodeData =
      'problems' in result
        ? REJECTED
        : [...toDataMap(kind, toEncodedEntries(result.config.entries))].map(([key, each]) => [key, each.toString()]);
    expect({ value, data: nodeData }).toEqual({ value, data: serverData });
  }
});
