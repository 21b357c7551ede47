/**
 * Shows that the fields of a pod take effect: of two pods that differ in one field, a simulated node makes different
 * requests to the runtime, the network or the cluster, writes different files, or reports a different status.
 */
import { expect, test } from '@jest/globals';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { Pod, PodSpec } from '../../kubernetes/api/schema/pod.ts';
import { podManifestSchema } from '../../kubernetes/api/schema/pod.ts';
import { validatePod } from '../../kubernetes/api/validate.ts';
import { findTreatment } from '../../scripts/podFields/page.ts';
import { CLUSTER_COMPONENTS, treatmentByPath } from '../../scripts/podFields/treatments.ts';
import { podWith } from '../fakes/pods.ts';
import { type FieldChange, fieldChanges, singleValueChanges } from './support/fieldChanges.ts';
import { tracePod } from './support/podTrace.ts';

/** Returns a copy of the spec in which the field at the path has the value. */
function withChange({ path, spec, value, swappedWith }: FieldChange): Partial<PodSpec> {
  const changed = structuredClone(spec);
  const previous = setField(changed, path, value);
  if (swappedWith !== undefined) setField(changed, swappedWith, previous);
  return changed;
}

/** Sets the field at a path, and returns its previous value. */
function setField(spec: object, path: string, value: unknown): unknown {
  const keys = path.split(/\.|(?=\[)|(?=\{)/).map((key) => key.replaceAll(/[[\]{}]/g, ''));
  const name = keys.at(-1) ?? '';
  let owner = spec;
  for (const [at, key] of keys.slice(0, -1).entries()) {
    const next: unknown = Reflect.get(owner, key);
    const child: object = typeof next === 'object' && next !== null ? next : /^\d+$/.test(keys[at + 1] ?? '') ? [] : {};
    Reflect.set(owner, key, child);
    owner = child;
  }
  const previous: unknown = Reflect.get(owner, name);
  Reflect.set(owner, name, value);
  return previous;
}

const genericPath = (path: string): string => path.replaceAll(/\[\d+\]/g, '[]').replaceAll(/\{[^}]*\}/g, '{}');

/** Returns the trace of a pod. Several changes have the same original pod. */
function traceOf({ resize, taints, fromCluster, shutsDown }: FieldChange, pod: Pod): Promise<string> {
  const options = { update: resize && withResources(pod, resize), taints, fromCluster, shutsDown };
  const key = JSON.stringify([pod, options]);
  const trace = traces.get(key) ?? tracePod(pod, options);
  traces.set(key, trace);
  return trace;
}

const traces = new Map<string, Promise<string>>();

function withResources(pod: Pod, resources: NonNullable<Container['resources']>): Pod {
  const containers = pod.spec.containers.map((each) => (each.name === 'main' ? { ...each, resources } : each));
  return { ...pod, spec: { ...pod.spec, containers } };
}

const problemsOf = (pod: Pod) => [...(podManifestSchema.safeParse(pod).error?.issues ?? []), ...validatePod(pod)];

test.each(fieldChanges)('C46: the field $path takes effect', async (change) => {
  const [original, changed] = [podWith('web', change.spec), podWith('web', withChange(change))];
  expect([problemsOf(original), problemsOf(changed)]).toEqual([[], []]);
  const [changedTrace, originalTrace] = [await traceOf(change, changed), await traceOf(change, original)];
  // Compare before `expect`, because the traces are too long for the message of a failure.
  expect(changedTrace !== originalTrace).toBe(true);
});

test.each([{}, { fromCluster: true }, { shutsDown: true }])(
  'two runs of the same pod with %j have the same trace, so each difference is the effect of a field',
  async (options) => {
    const [first] = fieldChanges.filter(({ fromCluster }) => fromCluster === options.fromCluster);
    const pod = podWith('web', first?.spec);
    expect(await tracePod(pod, options)).toBe(await tracePod(pod, options));
  },
);

test.each(singleValueChanges)('C46: a pod with a different value of the field $path is rejected', (change) => {
  expect(problemsOf(podWith('web', change.spec))).toEqual([]);
  expect(problemsOf(podWith('web', withChange(change)))).not.toEqual([]);
});

const actingRows = [...treatmentByPath].filter(
  ([, { treatment, owner }]) => treatment === 'takes effect' && !CLUSTER_COMPONENTS.has(owner),
);

test('C46: every field that takes effect is shown to take effect', () => {
  const shownRows = new Set(
    [...fieldChanges, ...singleValueChanges].map(({ path }) => findTreatment(genericPath(path))),
  );
  const otherRows = actingRows.map(([path]) => path).filter((path) => !shownRows.has(path));
  expect(otherRows).toEqual([]);
});
