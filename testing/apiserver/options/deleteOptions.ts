/** Options of a deletion, in the query or the body (`metav1/validation/validation.go` of apimachinery). */

import { lookUp } from '../../../base/values/lookUp.ts';
import { decode } from '../decode/decode.ts';
import { DecodeError } from '../decode/decodeError.ts';
import type { PropagationPolicy } from '../deletion/propagation.ts';
import { invalidValue, notSupported } from '../failures/causes.ts';
import { badRequest, type Cause, invalid } from '../failures/failures.ts';
import { isList, isObject, type Json, type JsonObject, numberAt, objectAt, textAt } from '../json.ts';
import type { Body } from '../requests/body.ts';
import { parseBody, SyntaxFailure } from '../requests/mediaTypes.ts';
import type { Types } from '../schema/types.ts';
import { integer } from './listOptions.ts';

export interface DeleteOptions {
  readonly isDryRun: boolean;
  readonly gracePeriodSeconds: number | undefined;
  readonly propagationPolicy: PropagationPolicy | undefined;
  readonly preconditions: { readonly uid?: string; readonly resourceVersion?: string };
}

const POLICIES = ['Foreground', 'Background', 'Orphan'] as const;
const TYPE = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions';

/**
 * Reads the options from the body, or from the query if the body is empty. Throws a `Failure` for invalid combinations.
 */
export function deleteOptions(query: URLSearchParams, body: Body, types: Types): DeleteOptions {
  const options = body.text === '' ? ofQuery(query) : ofBody(body, types);
  const orphans = lookUp(options, 'orphanDependents');
  const policy = textAt(options, 'propagationPolicy');
  const known = POLICIES.find((each) => each === policy);
  const dryRun = lookUp(options, 'dryRun');
  const dryRuns = isList(dryRun) ? dryRun.map(String) : [];
  const causes: Cause[] = [
    ...(orphans !== undefined && policy !== '' ? [conflictingOptions(policy)] : []),
    ...(policy !== '' && known === undefined ? [notSupported('propagationPolicy', policy, [...POLICIES, 'nil'])] : []),
    ...dryRuns.filter((each) => each !== 'All').map((each) => notSupported('dryRun', each, ['All'])),
  ];
  if (causes.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', causes);
  return {
    isDryRun: dryRuns.length > 0,
    gracePeriodSeconds: numberAt(options, 'gracePeriodSeconds'),
    propagationPolicy: known ?? (orphans === undefined ? undefined : orphans === true ? 'Orphan' : 'Background'),
    preconditions: preconditionsOf(objectAt(options, 'preconditions')),
  };
}

const conflictingOptions = (policy: string): Cause =>
  invalidValue('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set');

export function preconditionsOf(object: JsonObject): DeleteOptions['preconditions'] {
  const [uid, resourceVersion] = [textAt(object, 'uid'), textAt(object, 'resourceVersion')];
  return { ...(uid === '' ? {} : { uid }), ...(resourceVersion === '' ? {} : { resourceVersion }) };
}

function ofQuery(query: URLSearchParams): JsonObject {
  const grace = integer(query.get('gracePeriodSeconds'));
  const policy = query.get('propagationPolicy');
  const orphans = query.get('orphanDependents');
  return {
    ...(query.has('dryRun') ? { dryRun: query.getAll('dryRun') } : {}),
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
    ...(policy === null ? {} : { propagationPolicy: policy }),
    ...(orphans === null ? {} : { orphanDependents: orphans === 'true' }),
  };
}

function ofBody(body: Body, types: Types): JsonObject {
  const value = parseOptions(body);
  if (!isObject(value)) throw badRequest('the object provided is unrecognized (must be of type DeleteOptions)');
  const [kind, version] = [textAt(value, 'kind') || 'DeleteOptions', textAt(value, 'apiVersion') || 'v1'];
  if (kind !== 'DeleteOptions')
    throw badRequest(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(version)} in scheme "pkg/apis/meta/internalversion/scheme/register.go:27"`,
    );
  try {
    return decode(value, types.named(TYPE)).object;
  } catch (error) {
    throw error instanceof DecodeError ? badRequest(error.message) : error;
  }
}

function parseOptions(body: Body): Json {
  try {
    return parseBody(body.text, body.contentType);
  } catch (error) {
    throw error instanceof SyntaxFailure ? badRequest(error.message) : error;
  }
}
