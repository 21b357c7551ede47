/** A request whose path has been resolved to a target. */
import type { Admission } from '../admission/plugin.ts';
import type { Claims, Verdict } from '../authentication/serviceAccountTokens.ts';
import type { Attributes } from '../authorization/attributes.ts';
import type { Decision } from '../authorization/decision.ts';
import { badRequest } from '../failures/failures.ts';
import type { JsonObject } from '../json.ts';
import type { UsageHistory } from '../metrics/usageHistory.ts';
import type { ObjectLocation, Registry, WriteInput } from '../registry/registry.ts';
import type { Strategy } from '../registry/strategy.ts';
import type { Body } from '../requests/body.ts';
import type { User } from '../requests/request.ts';
import type { Target } from '../resources/target.ts';
import type { Types } from '../schema/types.ts';
import { metadataOf, withMetadata } from '../store/metadata.ts';

export interface Call {
  readonly registry: Registry;
  readonly types: Types;
  readonly admission: Admission;
  readonly strategy: Strategy;
  readonly target: Target;
  readonly query: URLSearchParams;
  readonly body: Body;
  readonly user: User;
  /** Number of latest writes that a read ignores because of a fault. */
  readonly staleBy: number;
  /** Issues a service account token. */
  readonly issueToken: (claims: Claims) => string;
  /** Returns the user of a token for one of these audiences, or for this server if there are none. */
  readonly reviewToken: (token: string, audiences: readonly string[]) => Verdict;
  /** Decides whether a user may make a request. */
  readonly decide: (user: User, attributes: Attributes) => Decision;
  /** The scraped resource usage of nodes and pods. */
  readonly usages: UsageHistory;
}

/** The location of the object that the path names. */
export const locationOf = ({ target: { resource, namespace, name = '' } }: Call): ObjectLocation => ({
  resource,
  namespace,
  name,
});

/** Returns the options for a write by this call. */
export function writeOptionsOf(call: Call, isDryRun: boolean): WriteInput {
  const { admission, strategy, target, user } = call;
  return {
    strategy,
    isDryRun,
    admit: (object, before) => admission({ target, user, object, before, registry: call.registry }),
  };
}

/** Returns an object with the namespace of the path. Throws a `Failure` if it has a different one. */
export function inNamespace(object: JsonObject, { target: { resource, namespace } }: Call): JsonObject {
  const own = metadataOf(object).namespace ?? '';
  const expected = resource.isNamespaced ? (namespace ?? '') : '';
  if (own !== '' && own !== expected)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  return expected === '' ? object : withMetadata(object, { namespace: expected });
}

/** Throws a `Failure` if the name of an object differs from that in the path. */
export function checkName(object: JsonObject, { target: { name = '' } }: Call): void {
  const own = metadataOf(object).name ?? '';
  if (own === '') throw badRequest('name must be provided');
  if (own !== name) throw badRequest(`the name of the object (${own}) does not match the name on the URL (${name})`);
}
