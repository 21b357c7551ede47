/** Issues service account tokens (`registry/core/serviceaccount/storage/token.go` of kubernetes). */

import { lookUp } from '../../../base/values/lookUp.ts';
import { rfc3339 } from '../../../kubernetes/api/values/rfc3339.ts';
import { ISSUER } from '../authentication/serviceAccountTokens.ts';
import { invalidValue } from '../failures/causes.ts';
import { badRequest, conflict, invalid, notFound } from '../failures/failures.ts';
import { isList, type JsonObject, numberAt, objectAt, textAt } from '../json.ts';
import { writeOptions } from '../options/writeOptions.ts';
import { specOf } from '../registry/strategies/parts.ts';
import { readObject } from '../requests/body.ts';
import type { Outcome } from '../requests/request.ts';
import { resourceNamed } from '../resources/resources.ts';
import { type Metadata, metadataOf } from '../store/metadata.ts';
import { type Call, locationOf } from './call.ts';
import { bodyKind } from './subresource.ts';

const SECOND_MS = 1000;
const DEFAULT_SECONDS = 3600;
const MIN_SECONDS = 600;
const MAX_SECONDS = 2 ** 32;
/**
 * Tokens with this lifetime come from the volumes that admission adds. They are extended to a year for old clients that
 * do not reload them.
 */
const EXTENDED_SECONDS = 3607;
const YEAR_SECONDS = 365 * 24 * 60 * 60;

export function requestToken(call: Call): Outcome {
  const { fieldValidation } = writeOptions(call.query, 'CreateOptions');
  const { object: tokenRequest, warnings } = readObject(call.body, bodyKind(call), call.types, fieldValidation);
  const { target, user, registry } = call;
  const now = registry.clock.now();
  const account = registry.get(locationOf(call));
  checkAccount(metadataOf(tokenRequest), metadataOf(account));
  call.admission({ target, user, object: tokenRequest, before: undefined, registry });
  const seconds = secondsOf(specOf(tokenRequest));
  const audiences = audiencesOf(specOf(tokenRequest));
  const bound = lookUp(specOf(tokenRequest), 'boundObjectRef');
  const { namespace = '', name = '', uid = '' } = metadataOf(account);
  const isExtended = seconds === EXTENDED_SECONDS && audiences.includes(ISSUER);
  const token = call.issueToken({
    namespace,
    audiences,
    account: { name, uid },
    id: registry.ids.uid(),
    seconds: isExtended ? YEAR_SECONDS : seconds,
    warnAfter: isExtended ? seconds : undefined,
    ...boundTo(call, objectAt(specOf(tokenRequest), 'boundObjectRef')),
  });
  return {
    code: 201,
    warnings,
    object: {
      ...tokenRequest,
      metadata: { name, namespace, uid, creationTimestamp: rfc3339(now) },
      spec: { audiences, expirationSeconds: seconds, boundObjectRef: bound ?? null },
      status: { token, expirationTimestamp: rfc3339(now + seconds * SECOND_MS) },
    },
  };
}

const KIND = { group: 'authentication.k8s.io', kind: 'TokenRequest' };

/** Throws a `Failure` if the request names a different account than the path. */
function checkAccount(requested: Metadata, account: Metadata): void {
  const { name = '', uid = '' } = account;
  for (const field of ['name', 'namespace'] as const) {
    const why = `must match the service account ${field} if specified`;
    if (requested[field] && requested[field] !== account[field])
      throw invalid(KIND, name, [invalidValue(`metadata.${field}`, requested[field], why)]);
  }
  const other = `the UID in the token request (${requested.uid}) does not match the UID of the service account (${uid})`;
  if (requested.uid && requested.uid !== uid) throw conflict({ ...KIND, name: KIND.kind }, name, other);
}

function secondsOf(spec: JsonObject): number {
  const seconds = numberAt(spec, 'expirationSeconds') ?? DEFAULT_SECONDS;
  const refused = (why: string) => invalid(KIND, '', [invalidValue('spec.expirationSeconds', seconds, why)]);
  if (seconds < MIN_SECONDS) throw refused('may not specify a duration less than 10 minutes');
  if (seconds > MAX_SECONDS) throw refused('may not specify a duration larger than 2^32 seconds');
  return seconds;
}

function audiencesOf(spec: JsonObject): string[] {
  const value = lookUp(spec, 'audiences');
  const audiences = isList(value) ? value.filter((each) => typeof each === 'string') : [];
  return audiences.length === 0 ? [ISSUER] : audiences;
}

type Bound = Partial<Record<'pod' | 'node' | 'secret', { readonly name: string; readonly uid: string }>>;

/** Returns the object that the token is bound to. */
function boundTo({ registry, target }: Call, reference: JsonObject): Bound {
  const [apiVersion, kind, name] = ['apiVersion', 'kind', 'name'].map((field) => textAt(reference, field));
  if (kind === '') return {};
  const find = (resource: 'pods' | 'nodes' | 'secrets', namespace: string | undefined): JsonObject => {
    const known = resourceNamed('', 'v1', resource);
    const found = registry.store.get(`/${resource}`, namespace, name ?? '');
    if (found === undefined || known === undefined)
      throw notFound(known ?? { group: '', name: resource, kind: '' }, name ?? '');
    const { uid = '' } = metadataOf(found);
    const expectedUid = textAt(reference, 'uid');
    const why = `the UID in the bound object reference (${expectedUid}) does not match the UID in record. The object might have been deleted and then recreated`;
    if (expectedUid !== '' && expectedUid !== uid) throw conflict({ ...known, name: resource }, name ?? '', why);
    return found;
  };
  switch (`${apiVersion} ${kind}`) {
    case 'v1 Pod':
      return podBound(find('pods', target.namespace), target.name ?? '', registry.store.get.bind(registry.store));
    case 'v1 Node':
      return { node: nameAndUid(find('nodes', undefined)) };
    case 'v1 Secret':
      return { secret: nameAndUid(find('secrets', target.namespace)) };
    default:
      throw badRequest(`cannot bind token to object of type /${apiVersion}, Kind=${kind}`);
  }
}

const nameAndUid = (object: JsonObject) => {
  const { name = '', uid = '' } = metadataOf(object);
  return { name, uid };
};

function podBound(pod: JsonObject, account: string, get: Call['registry']['store']['get']): Bound {
  if (textAt(specOf(pod), 'serviceAccountName') !== account)
    throw badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with different serviceaccount name.`,
    );
  const node = get('/nodes', undefined, textAt(specOf(pod), 'nodeName'));
  return { pod: nameAndUid(pod), ...(node === undefined ? {} : { node: nameAndUid(node) }) };
}
