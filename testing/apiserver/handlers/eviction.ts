/** Evicts a pod if its disruption budget allows it (`registry/core/pod/storage/eviction.go` of kubernetes). */

import { lookUp } from '../../../base/values/lookUp.ts';
import { rfc3339 } from '../../../kubernetes/api/values/rfc3339.ts';
import { badRequest, Failure } from '../failures/failures.ts';
import { type JsonObject, numberAt, objectAt, textAt } from '../json.ts';
import { preconditionsOf } from '../options/deleteOptions.ts';
import { writeOptions } from '../options/writeOptions.ts';
import { deleteObject } from '../registry/deletion.ts';
import { objectsAt, specOf, statusOf, withFields } from '../registry/strategies/parts.ts';
import { readObject } from '../requests/body.ts';
import type { Outcome } from '../requests/request.ts';
import { selects } from '../selection/labelQuery.ts';
import { metadataOf } from '../store/metadata.ts';
import { type Call, locationOf } from './call.ts';
import { bodyKind, successStatus } from './subresource.ts';

const BUDGETS = 'policy/poddisruptionbudgets';

export function evict(call: Call): Outcome {
  const options = writeOptions(call.query, 'CreateOptions');
  const { object: eviction, warnings } = readObject(call.body, bodyKind(call), call.types, options.fieldValidation);
  const location = locationOf(call);
  if (metadataOf(eviction).name !== location.name)
    throw badRequest('name in URL does not match name in Eviction object');
  const deleteOptions = objectAt(eviction, 'deleteOptions');
  const { target, user, registry } = call;
  call.admission({ target, user, object: eviction, before: undefined, registry });
  const pod = registry.get(location);
  const isDryRun = options.isDryRun || lookUp(deleteOptions, 'dryRun') !== undefined;
  if (!isOutOfService(pod)) spendBudget(call, pod, isDryRun);
  if (!isDryRun) registry.store.put('/pods', withDisruption(registry.get(location), registry.clock.now()));
  deleteObject(registry, location, {
    strategy: call.strategy,
    isDryRun,
    gracePeriodSeconds: numberAt(deleteOptions, 'gracePeriodSeconds'),
    propagationPolicy: undefined,
    preconditions: preconditionsOf(objectAt(deleteOptions, 'preconditions')),
  });
  return { code: 201, object: successStatus, warnings };
}

/** Whether a pod needs no disruption budget (`canIgnorePDB`). */
function isOutOfService(pod: JsonObject): boolean {
  const phase = textAt(statusOf(pod), 'phase');
  return ['Succeeded', 'Failed', 'Pending'].includes(phase) || metadataOf(pod).deletionTimestamp !== undefined;
}

function spendBudget({ registry }: Call, pod: JsonObject, isDryRun: boolean): void {
  const { namespace, name = '' } = metadataOf(pod);
  const budgets = registry.store
    .list(BUDGETS)
    .map(([, budget]) => budget)
    .filter((each) => metadataOf(each).namespace === namespace && selects(lookUp(specOf(each), 'selector'), pod));
  const [budget, another] = budgets;
  if (another !== undefined)
    throw new Failure(
      500,
      '',
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    );
  if (budget === undefined || (!isReady(pod) && allowsUnready(budget))) return;
  const status = statusOf(budget);
  const allowed = numberAt(status, 'disruptionsAllowed') ?? 0;
  if (allowed < 1) throw budgetExhausted(budget);
  if (isDryRun) return;
  const disruptedPods = { ...objectAt(status, 'disruptedPods'), [name]: rfc3339(registry.clock.now()) };
  registry.store.put(BUDGETS, {
    ...budget,
    status: withFields(status, {
      disruptionsAllowed: allowed - 1,
      disruptedPods,
      ...(allowed === 1 ? { conditions: withoutDisruptions(status, registry.clock.now()) } : {}),
    }),
  });
}

const isReady = (pod: JsonObject): boolean =>
  objectsAt(statusOf(pod), 'conditions').some(
    (each) => textAt(each, 'type') === 'Ready' && textAt(each, 'status') === 'True',
  );

/** Whether a pod that is not ready may be evicted, because enough others are healthy or the budget's policy says so. */
function allowsUnready(budget: JsonObject): boolean {
  if (textAt(specOf(budget), 'unhealthyPodEvictionPolicy') === 'AlwaysAllow') return true;
  const status = statusOf(budget);
  const desired = numberAt(status, 'desiredHealthy') ?? 0;
  return desired > 0 && (numberAt(status, 'currentHealthy') ?? 0) >= desired;
}

const RETRY_SECONDS = 10;

function budgetExhausted(budget: JsonObject): Failure {
  const { name = '' } = metadataOf(budget);
  const status = statusOf(budget);
  const needs = numberAt(status, 'desiredHealthy') ?? 0;
  const has = numberAt(status, 'currentHealthy') ?? 0;
  const isUnprocessed =
    (numberAt(status, 'observedGeneration') ?? 0) < (numberAt(objectAt(budget, 'metadata'), 'generation') ?? 0);
  const message = isUnprocessed
    ? `The disruption budget ${name} is still being processed by the server.`
    : `The disruption budget ${name} needs ${needs} healthy pods and has ${has} currently`;
  return new Failure(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: 'DisruptionBudget', message }],
    ...(isUnprocessed ? { retryAfterSeconds: RETRY_SECONDS } : {}),
  });
}

function withoutDisruptions(status: JsonObject, now: number): JsonObject[] {
  const type = 'DisruptionAllowed';
  const had = objectsAt(status, 'conditions').find((each) => textAt(each, 'type') === type) ?? {};
  const condition = {
    ...had,
    type,
    status: 'False',
    reason: 'InsufficientPods',
    observedGeneration: numberAt(status, 'observedGeneration') ?? 0,
    lastTransitionTime: rfc3339(now),
    message: '',
  };
  return [...objectsAt(status, 'conditions').filter((each) => textAt(each, 'type') !== type), condition];
}

function withDisruption(pod: JsonObject, now: number): JsonObject {
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: rfc3339(now),
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  };
  const others = objectsAt(statusOf(pod), 'conditions').filter((each) => textAt(each, 'type') !== condition.type);
  const isThere = others.length < objectsAt(statusOf(pod), 'conditions').length;
  return isThere ? pod : { ...pod, status: { ...statusOf(pod), conditions: [...others, condition] } };
}
