/** The errors of the kube-apiserver (`pkg/api/errors` of apimachinery). */
import type { Resource } from '../resources/resource.ts';

export interface Cause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

interface Details {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly Cause[];
  readonly retryAfterSeconds?: number;
}

/** The body of an error response. */
export interface FailureStatus {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: Readonly<Record<string, never>>;
  readonly status: 'Failure';
  readonly message: string;
  readonly reason?: string;
  readonly details?: Details;
  readonly code: number;
}

/** The error of a failed request, with the status in its response. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly status: FailureStatus;

  constructor(code: number, reason: string, message: string, details?: Details) {
    super(message);
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      ...(reason === '' ? {} : { reason }),
      ...(details === undefined ? {} : { details }),
      code,
    };
  }
}

/** The object of a failure. */
type FailedObject = Pick<Resource, 'group' | 'name' | 'kind'>;

const ofGroup = (group: string) => (group === '' ? {} : { group });
/** The qualified name of a resource, e.g. `pods` or `leases.coordination.k8s.io`. */
const qualifiedName = ({ group, name }: Pick<Resource, 'group' | 'name'>): string =>
  group === '' ? name : `${name}.${group}`;

export const badRequest = (message: string): Failure => new Failure(400, 'BadRequest', message);

export const resourceNotFound = (): Failure =>
  new Failure(404, 'NotFound', 'the server could not find the requested resource', {});

export const methodNotAllowed = (): Failure =>
  new Failure(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});

export const notFound = (about: FailedObject, name: string): Failure =>
  new Failure(404, 'NotFound', `${qualifiedName(about)} "${name}" not found`, {
    name,
    ...ofGroup(about.group),
    kind: about.name,
  });

/** `isGoing` means that the existing object is being deleted. */
export const alreadyExists = (about: FailedObject, name: string, isGoing = false): Failure =>
  new Failure(
    409,
    'AlreadyExists',
    `${isGoing ? 'object is being deleted: ' : ''}${qualifiedName(about)} "${name}" already exists`,
    { name, ...ofGroup(about.group), kind: about.name },
  );

/** The request is forbidden by a rule of the server. */
export const forbidden = (about: FailedObject, name: string, why: string, causes: readonly Cause[] = []): Failure =>
  new Failure(
    403,
    'Forbidden',
    `${qualifiedName(about)}${name === '' ? '' : ` ${JSON.stringify(name)}`} is forbidden: ${why}`,
    {
      ...(name === '' ? {} : { name }),
      ...ofGroup(about.group),
      kind: about.name,
      ...(causes.length > 0 ? { causes } : {}),
    },
  );

export const internalError = (message: string): Failure => new Failure(500, '', message);

export const conflict = (about: FailedObject, name: string, why: string): Failure =>
  new Failure(409, 'Conflict', `Operation cannot be fulfilled on ${qualifiedName(about)} "${name}": ${why}`, {
    name,
    ...ofGroup(about.group),
    kind: about.name,
  });

/** The object has been modified since the client read it. */
export const modifiedConflict = (about: FailedObject, name: string): Failure =>
  conflict(about, name, 'the object has been modified; please apply your changes to the latest version and try again');

/**
 * The object is invalid. The details contain all causes in the order in which they were found, and the message each one
 * once.
 */
export function invalid(
  { group, kind }: Pick<FailedObject, 'group' | 'kind'>,
  name: string,
  causes: readonly Cause[],
): Failure {
  const each = [...new Set(causes.map(({ field, message }) => `${field}: ${message}`))];
  const whole = each.length === 1 ? each[0] : `[${each.join(', ')}]`;
  const qualifiedKind = group === '' ? kind : `${kind}.${group}`;
  const named = name === '' ? {} : { name };
  return new Failure(422, 'Invalid', `${qualifiedKind} "${name}" is invalid: ${whole}`, {
    ...named,
    ...ofGroup(group),
    ...(kind === '' ? {} : { kind }),
    causes,
  });
}

/** The requested history has been compacted, so the client must relist. */
export const expired = (message: string): Failure => new Failure(410, 'Expired', message);

/** A server that the request depends on is unavailable. */
export const unavailable = (message: string): Failure => new Failure(503, 'ServiceUnavailable', message);
