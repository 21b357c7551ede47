/**
 * Strategies of CertificateSigningRequests (`registry/certificates` and `apis/certificates/validation` of kubernetes).
 */
import { X509Certificate } from 'node:crypto';
import { messageOf } from '../../../../base/failure.ts';
import { lookUp } from '../../../../base/values/lookUp.ts';
import { rfc3339 } from '../../../../kubernetes/api/values/rfc3339.ts';
import { readSigningRequest } from '../../certificates/signingRequest.ts';
import { duplicate, forbidden, invalidValue, notSupported, required } from '../../failures/causes.ts';
import type { Cause } from '../../failures/failures.ts';
import { type JsonObject, numberAt, textAt } from '../../json.ts';
import { plainStrategy, type Strategy, withSelectors } from '../strategy.ts';
import { listAt, objectsAt, specOf, statusOf, withFields, withFieldsOf } from './parts.ts';

const USAGES = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
] as const;
const SHORTEST_SECONDS = 600;
const APPROVALS = ['Approved', 'Denied'] as const;
const FINAL_TYPES = [...APPROVALS, 'Failed'] as const;

const conditionsOf = (request: JsonObject): readonly JsonObject[] => objectsAt(statusOf(request), 'conditions');
const ofType = (request: JsonObject, type: string): JsonObject[] =>
  conditionsOf(request).filter((each) => textAt(each, 'type') === type);

function requestCauses(request: JsonObject): Cause[] {
  const text = textAt(specOf(request), 'request');
  const wrong = (why: string) => [invalidValue('spec.request', text, why)];
  try {
    return readSigningRequest(text).isSigned ? [] : wrong('x509: ECDSA verification failure');
  } catch (error) {
    return wrong(messageOf(error));
  }
}

function usageCauses(request: JsonObject): Cause[] {
  const usages = listAt(specOf(request), 'usages').map(String);
  const unknown = usages.flatMap((usage, index) =>
    USAGES.some((each) => each === usage) ? [] : [notSupported(`spec.usages[${index}]`, usage, USAGES)],
  );
  const twice = usages.flatMap((usage, index) =>
    usages.indexOf(usage) < index ? [duplicate(`spec.usages[${index}]`, usage)] : [],
  );
  return [...(usages.length === 0 ? [required('spec.usages')] : []), ...unknown, ...twice];
}

function createCauses(request: JsonObject): Cause[] {
  const seconds = numberAt(specOf(request), 'expirationSeconds') ?? SHORTEST_SECONDS;
  const short = 'may not specify a duration less than 600 seconds (10 minutes)';
  return [
    ...requestCauses(request),
    ...usageCauses(request),
    ...(textAt(specOf(request), 'signerName') === '' ? [required('spec.signerName')] : []),
    ...(seconds < SHORTEST_SECONDS ? [invalidValue('spec.expirationSeconds', seconds, short)] : []),
    ...conditionCauses(request),
    ...certificateCauses(request),
  ];
}

function conditionCauses(request: JsonObject): Cause[] {
  const conditions = conditionsOf(request);
  const [hasApproved, hasDenied] = APPROVALS.map((type) => ofType(request, type).length > 0);
  const last = conditions.findLast((each) => APPROVALS.some((type) => type === textAt(each, 'type')));
  const exclusive = 'Approved and Denied conditions are mutually exclusive';
  return [
    ...conditions.flatMap(statusCauses),
    ...(hasApproved && hasDenied ? [invalidValue('status.conditions', textAt(last ?? {}, 'type'), exclusive)] : []),
  ];
}

function statusCauses(condition: JsonObject, index: number): Cause[] {
  const [type, status] = [textAt(condition, 'type'), textAt(condition, 'status')];
  const field = `status.conditions[${index}].status`;
  const known = FINAL_TYPES.some((each) => each === type) ? ['True'] : ['False', 'True', 'Unknown'];
  if (status === '') return [required(field)];
  return known.includes(status) ? [] : [notSupported(field, status, known)];
}

function certificateCauses(request: JsonObject): Cause[] {
  const text = Buffer.from(textAt(statusOf(request), 'certificate'), 'base64').toString();
  if (text === '') return [];
  const wrong = (why: string) => [invalidValue('status.certificate', '<certificate data>', why)];
  if (!text.includes('-----BEGIN CERTIFICATE-----')) return wrong('must contain at least one CERTIFICATE PEM block');
  try {
    return new X509Certificate(text).raw.length > 0 ? [] : [];
  } catch (error) {
    return wrong(messageOf(error));
  }
}

/** Validates an update of the request or one of its subresources. */
const updateCauses =
  (part: 'approval' | 'status' | 'whole') =>
  (request: JsonObject, before: JsonObject): Cause[] => {
    const counts = (type: string) => [ofType(request, type).length, ofType(before, type).length] as const;
    const lost = FINAL_TYPES.filter((type) => counts(type)[0] < counts(type)[1]);
    const added = part === 'approval' ? [] : APPROVALS.filter((type) => counts(type)[0] > counts(type)[1]);
    return [
      ...createCauses(request),
      ...lost.map((type) => forbidden('status.conditions', `updates may not remove a condition of type "${type}"`)),
      ...added.map((type) => forbidden('status.conditions', `updates may not add a condition of type "${type}"`)),
    ];
  };

/** Returns the conditions with timestamps. Those of the types `kept` are not changed. */
function withTimestamps(request: JsonObject, before: JsonObject, now: number, kept: readonly string[]): JsonObject[] {
  const at = rfc3339(now);
  return conditionsOf(request).map((condition) => {
    const [had] = ofType(before, textAt(condition, 'type'));
    if (had !== undefined && kept.includes(textAt(condition, 'type'))) return had;
    const transition = had && lookUp(had, 'lastTransitionTime');
    return withFields(condition, {
      lastUpdateTime: lookUp(condition, 'lastUpdateTime') ?? at,
      lastTransitionTime: lookUp(condition, 'lastTransitionTime') ?? transition ?? at,
    });
  });
}

export const signingRequestStrategy: Strategy = {
  ...plainStrategy,
  ...withSelectors([['spec.signerName', (request) => textAt(specOf(request), 'signerName')]]),
  nameRule: () => [],
  created: (request) => ({ ...request, status: {} }),
  updated: (request, before) => withFieldsOf(request, before, ['spec', 'status']),
  createCauses,
  updateCauses: updateCauses('whole'),
  checksWhole: false,
};

export const signingRequestStatusStrategy: Strategy = {
  ...signingRequestStrategy,
  updated: (request, before, { clock }) => {
    const conditions = withTimestamps(request, before, clock.now(), APPROVALS);
    return { ...request, spec: specOf(before), status: withFields(statusOf(request), { conditions }) };
  },
  updateCauses: updateCauses('status'),
};

export const signingRequestApprovalStrategy: Strategy = {
  ...signingRequestStrategy,
  updated: (request, before, { clock }) => {
    const conditions = withTimestamps(request, before, clock.now(), []);
    return { ...request, spec: specOf(before), status: withFields(statusOf(before), { conditions }) };
  },
  updateCauses: updateCauses('approval'),
};
