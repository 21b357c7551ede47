/** Reviews of tokens and of access (`registry/authentication` and `registry/authorization` of kubernetes). */

import { lookUp } from '../../../base/values/lookUp.ts';
import { rfc3339 } from '../../../kubernetes/api/values/rfc3339.ts';
import type { Attributes } from '../authorization/attributes.ts';
import { invalidValue } from '../failures/causes.ts';
import { badRequest, type Cause, invalid } from '../failures/failures.ts';
import { isList, isObject, type Json, type JsonObject, objectAt, textAt } from '../json.ts';
import { writeOptions } from '../options/writeOptions.ts';
import { listAt, specOf } from '../registry/strategies/parts.ts';
import { readObject } from '../requests/body.ts';
import type { Outcome, User } from '../requests/request.ts';
import type { Call } from './call.ts';

/** The handlers of reviews by resource. Reviews can only be created. */
export const reviews: ReadonlyMap<string, (call: Call) => Outcome> = new Map([
  ['tokenreviews', (call: Call) => createReview(call, tokenStatus)],
  ['selfsubjectreviews', (call: Call) => createSelfReview(call)],
  ['subjectaccessreviews', (call: Call) => createReview(call, accessStatus)],
  ['selfsubjectaccessreviews', (call: Call) => createReview(call, ownAccessStatus)],
]);

function createReview(call: Call, statusOf: (spec: JsonObject, call: Call) => JsonObject): Outcome {
  const { fieldValidation } = writeOptions(call.query, 'CreateOptions');
  const { object, warnings } = readObject(call.body, call.target.resource, call.types, fieldValidation);
  return { code: 201, warnings, object: { metadata: {}, ...object, status: statusOf(specOf(object), call) } };
}

function createSelfReview(call: Call): Outcome {
  const { object, ...others } = createReview(call, (_, { user }) => ({ userInfo: userInfo(user) }));
  return { ...others, object: { ...object, metadata: { creationTimestamp: rfc3339(call.registry.clock.now()) } } };
}

function tokenStatus(spec: JsonObject, call: Call): JsonObject {
  const token = textAt(spec, 'token');
  if (token === '') throw badRequest('token is required for TokenReview in authentication');
  const verdict = call.reviewToken(token, texts(spec, 'audiences'));
  if ('error' in verdict) return { user: {}, error: verdict.error };
  return { authenticated: true, user: userInfo(verdict.user), audiences: verdict.audiences };
}

function accessStatus(spec: JsonObject, call: Call): JsonObject {
  const user = textAt(spec, 'user');
  const groups = texts(spec, 'groups');
  const isNobody = user === '' && groups.length === 0;
  const nobody = invalidValue('spec.user', '', 'at least one of user or group must be specified');
  requireNoCauses([...kindCauses(spec), ...(isNobody ? [nobody] : [])]);
  return accessDecision({ name: user, groups }, spec, call);
}

function ownAccessStatus(spec: JsonObject, call: Call): JsonObject {
  requireNoCauses(kindCauses(spec));
  return accessDecision(call.user, spec, call);
}

function requireNoCauses(causes: readonly Cause[]): void {
  // The kind is empty, as in the errors of `ValidateSubjectAccessReview`.
  if (causes.length > 0) throw invalid({ group: 'authorization.k8s.io', kind: '' }, '', causes);
}

/** Checks that there are attributes of either a resource or a non-resource path. */
function kindCauses(spec: JsonObject): Cause[] {
  const [ofResource, ofPath] = ['resourceAttributes', 'nonResourceAttributes'].map((name) => lookUp(spec, name));
  if (isObject(ofResource) && isObject(ofPath)) {
    const value = { Path: textAt(ofPath, 'path'), Verb: textAt(ofPath, 'verb') };
    const why = 'cannot be specified in combination with resourceAttributes';
    return [invalidValue('spec.nonResourceAttributes', value, why)];
  }
  if (isObject(ofResource) || isObject(ofPath)) return [];
  const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
  return [invalidValue('spec.resourceAttributes', null, why)];
}

function accessDecision(user: User, spec: JsonObject, call: Call): JsonObject {
  const { isAllowed, reason } = call.decide(user, attributesIn(spec));
  return { allowed: isAllowed, ...(reason === '' ? {} : { reason }) };
}

function attributesIn(spec: JsonObject): Attributes {
  const ofPath = lookUp(spec, 'nonResourceAttributes');
  if (isObject(ofPath)) return { verb: textAt(ofPath, 'verb'), path: textAt(ofPath, 'path') };
  const of = objectAt(spec, 'resourceAttributes');
  const [group = '', resource = '', subresource = '', namespace = '', name = ''] = [
    ...['group', 'resource', 'subresource', 'namespace', 'name'].map((field) => textAt(of, field)),
  ];
  return { verb: textAt(of, 'verb'), group, resource, subresource, namespace, name, fieldSelector: new Map() };
}

function userInfo({ name, uid, groups, extra }: User): JsonObject {
  const more: Json = Object.fromEntries(extra ?? []);
  return {
    username: name,
    ...(uid === undefined ? {} : { uid }),
    groups,
    ...(extra === undefined || extra.size === 0 ? {} : { extra: more }),
  };
}

function texts(object: JsonObject, name: string): string[] {
  const list = listAt(object, name);
  return isList(list) ? list.filter((each) => typeof each === 'string') : [];
}
