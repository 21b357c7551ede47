/** A request that has been read as far as its path: who asks for what. */
import type { Admission } from '../admission/plugin.ts';
import type { Claims, Verdict } from '../authentication/serviceAccountTokens.ts';
import type { Attributes } from '../authorization/attributes.ts';
import type { Decision } from '../authorization/decision.ts';
import type { Body } from '../body.ts';
import { badRequest } from '../failures.ts';
import type { JsonObject } from '../json.ts';
import type { UsageHistory } from '../metrics/usageHistory.ts';
import type { Place, Registry, WriteHow } from '../registry/registry.ts';
import type { Strategy } from '../registry/strategy.ts';
import type { User } from '../request.ts';
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
  /** A read looks so many writes back, where a test wants it. */
  readonly staleBy: number;
  /** Makes a token of a service account. */
  readonly issueToken: (claims: Claims) => string;
  /** Whose a token is that is meant for one of these; for this server, where none are named. */
  readonly reviewToken: (token: string, audiences: readonly string[]) => Verdict;
  /** Whether somebody may do something. */
  readonly decide: (user: User, attributes: Attributes) => Decision;
  /** What nodes and pods use, as far as they have been asked. */
  readonly usages: UsageHistory;
}

/** The place of the object that the path names. */
export const placeOf = ({ target: { resource, namespace, name = '' } }: Call): Place => ({ resource, namespace, name });

/** How a call writes. */
export function writesBy(call: Call, isDryRun: boolean): WriteHow {
  const { admission, strategy, target, user } = call;
  return {
    strategy,
    isDryRun,
    admit: (object, before) => admission({ target, user, object, before, registry: call.registry }),
  };
}

/** An object in the namespace of the path; throws a `Failure` where it says that it is in another. */
export function inNamespace(object: JsonObject, { target: { resource, namespace } }: Call): JsonObject {
  const own = metadataOf(object).namespace ?? '';
  const asked = resource.isNamespaced ? (namespace ?? '') : '';
  if (own !== '' && own !== asked)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  return asked === '' ? object : withMetadata(object, { namespace: asked });
}

/** Throws a `Failure` for an object of another name than the path's. */
export function checkName(object: JsonObject, { target: { name = '' } }: Call): void {
  const own = metadataOf(object).name ?? '';
  if (own === '') throw badRequest('name must be provided');
  if (own !== name) throw badRequest(`the name of the object (${own}) does not match the name on the URL (${name})`);
}
