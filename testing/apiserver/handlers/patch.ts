/** Patches objects (`endpoints/handlers/patch.go` of apiserver). */

import { DecodeError, kindOf } from '../decode/decodeError.ts';
import { invalidValue } from '../failures/causes.ts';
import { badRequest, Failure, invalid } from '../failures/failures.ts';
import { goText } from '../failures/goText.ts';
import { isList, isObject, type Json, type JsonObject, textAt } from '../json.ts';
import { writeOptions } from '../options/writeOptions.ts';
import { jsonPatch } from '../patch/jsonPatch.ts';
import { mergePatch } from '../patch/mergePatch.ts';
import { PatchError } from '../patch/patchError.ts';
import { strategicPatch } from '../patch/strategicPatch.ts';
import { type FieldValidation, readValue } from '../requests/body.ts';
import { parseBody, SyntaxFailure } from '../requests/mediaTypes.ts';
import type { Outcome } from '../requests/request.ts';
import { groupVersion } from '../resources/resource.ts';
import type { ObjectType } from '../schema/types.ts';
import { type Call, checkName, inNamespace, locationOf, writeOptionsOf } from './call.ts';

type PatchFunction = (before: JsonObject, patch: Json, type: ObjectType | undefined) => Json;

const STRATEGIC = 'application/strategic-merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';
/** The patch functions by media type. */
const PATCHES: ReadonlyMap<string, PatchFunction> = new Map<string, PatchFunction>([
  [JSON_PATCH, (before, change) => jsonPatch(before, change)],
  ['application/merge-patch+json', (before, change) => mergePatch(before, change)],
  [STRATEGIC, (before, change, type) => (isObject(change) ? strategicPatch(before, change, type) : before)],
]);

export function patch(call: Call): Outcome {
  const [mediaType = ''] = (call.body.contentType ?? '').split(';').map((part) => part.trim());
  const apply = PATCHES.get(mediaType);
  if (apply === undefined) throw unsupported();
  const { isDryRun, fieldValidation } = writeOptions(call.query, 'PatchOptions');
  const change = parsePatch(call.body.text, mediaType === JSON_PATCH);
  const { resource } = call.target;
  const type = call.types.kind(resource.group, resource.version, resource.kind);
  let warnings: readonly string[] = [];
  const { object } = call.registry.update(
    locationOf(call),
    (before = {}) => {
      const patched = applyOrFail(() => apply(before, change, type));
      const read = readPatched(patched, call, change, fieldValidation);
      ({ warnings } = read);
      const requested = inNamespace(call.strategy.defaulted(read.object), call);
      checkName(requested, call);
      return requested;
    },
    { ...writeOptionsOf(call, isDryRun), strategy: { ...call.strategy, createsOnUpdate: false } },
  );
  return { code: 200, object, warnings };
}

/** Reads the result of a patch. Throws a `Failure` if it is not an object of the target's kind. */
function readPatched(
  patched: Json,
  { target: { resource }, types, body }: Call,
  change: Json,
  validation: FieldValidation,
) {
  const text = isObject(change) && body.contentType?.startsWith(STRATEGIC) ? goText(change) : body.text;
  try {
    if (isObject(patched) && textAt(patched, 'kind') !== resource.kind)
      throw new DecodeError(`${groupVersion(resource)}, Kind=${textAt(patched, 'kind')} is not a ${resource.kind}`);
    return readValue(patched, resource, types, validation);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw invalid({ group: '', kind: '' }, '', [invalidValue('patch', text, error.message)]);
  }
}

const unsupported = (): Failure => new Failure(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});

/** Returns the patch in a body. Throws a `Failure` if it is malformed. */
function parsePatch(text: string, isJsonPatch: boolean): Json {
  const refused = (why: string): Failure => badRequest(`error decoding patch: ${why}`);
  try {
    const change = parseBody(text);
    if (isJsonPatch ? isList(change) : isObject(change)) return change;
    throw refused(
      `json: cannot unmarshal ${kindOf(change)} into Go value of type ${isJsonPatch ? '[]handlers.jsonPatchOp' : 'map[string]interface {}'}`,
    );
  } catch (error) {
    throw error instanceof SyntaxFailure ? refused(error.message) : error;
  }
}

const STATUS_OF: ReadonlyMap<PatchError['code'], (message: string) => Failure> = new Map([
  [
    422 as const,
    () => new Failure(422, 'Invalid', 'the server rejected our request due to an error in our request', {}),
  ],
  [400 as const, badRequest],
  [413 as const, (message: string) => new Failure(413, 'RequestEntityTooLarge', message)],
]);

function applyOrFail(apply: () => Json): Json {
  try {
    return apply();
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    const { code, message } = error;
    throw (STATUS_OF.get(code) ?? ((why: string) => new Failure(500, '', why)))(message);
  }
}
