/** What references to owners have to be like (`api/validation/objectmeta.go` of apimachinery). */
import { lookUp } from '../../pod/lookUp.ts';
import { invalidValue } from '../causes.ts';
import type { Cause } from '../failures.ts';
import { isList, isObject, type Json, type JsonObject, objectOf, textAt } from '../json.ts';

const FIELD = 'metadata.ownerReferences';

/** Each has to say whom it means, and one at most is in charge. */
export function ownerCauses(references: Json | undefined): Cause[] {
  const owners = isList(references) ? references.filter(isObject) : [];
  const causes: Cause[] = [];
  let controller: string | undefined;
  for (const owner of owners) {
    causes.push(...unnamed(owner));
    if (lookUp(owner, 'controller') !== true) continue;
    const named = `${textAt(owner, 'kind')}/${textAt(owner, 'name')}`;
    if (controller === undefined) controller = named;
    else causes.push(invalidValue(FIELD, owners.map(inOrder), twice(controller, named)));
  }
  return causes;
}

/** As Go writes it. */
const inOrder = (owner: JsonObject): JsonObject =>
  objectOf(
    FIELDS.flatMap((name) => (Object.hasOwn(owner, name) ? [[name, lookUp(owner, name) ?? null] as const] : [])),
  );
const FIELDS = ['apiVersion', 'kind', 'name', 'uid', 'controller', 'blockOwnerDeletion'] as const;

const twice = (first: string, second: string): string =>
  `Only one reference can have Controller set to true. Found "true" in references for ${first} and ${second}`;

function unnamed(owner: JsonObject): Cause[] {
  const apiVersion = textAt(owner, 'apiVersion');
  const kind = textAt(owner, 'kind');
  const empty = ['kind', 'name', 'uid'].filter((name) => textAt(owner, name) === '');
  const isEvent = apiVersion === 'v1' && kind === 'Event';
  return [
    ...(apiVersion === '' || apiVersion.endsWith('/')
      ? [invalidValue(`${FIELD}.apiVersion`, apiVersion, 'version must not be empty')]
      : []),
    ...empty.map((name) => invalidValue(`${FIELD}.${name}`, '', 'must not be empty')),
    ...(isEvent ? [invalidValue(FIELD, inOrder(owner), '/v1, Kind=Event is disallowed from being an owner')] : []),
  ];
}
