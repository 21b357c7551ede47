/**
 * Shows that the fields of a pod take effect: of two pods that differ in one field, a simulated node makes different
 * requests to the runtime, the network or the cluster, writes different files, or reports a different status.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { Pod, PodSpec } from '../../kubernetes/api/schema/pod.ts';
import { podManifestSchema } from '../../kubernetes/api/schema/pod.ts';
import { validatePod } from '../../kubernetes/api/validate.ts';
import { findTreatment } from '../../scripts/podFields/page.ts';
import { CLUSTER_COMPONENTS, treatmentByPath } from '../../scripts/podFields/treatments.ts';
import { podWith } from '../fakes/pods.ts';
import { root } from '../support/root.ts';
import { type FieldChange, fieldChanges, singleValueChanges, unobservedRows } from './support/fieldChanges.ts';
import { tracePod } from './support/podTrace.ts';

/** Returns a copy of the spec in which the field at the path has the value. */
function withChange({ path, spec, value }: FieldChange): Partial<PodSpec> {
  const keys = path.split(/\.|(?=\[)|(?=\{)/).map((key) => key.replaceAll(/[[\]{}]/g, ''));
  const changed = structuredClone(spec);
  let owner: object = changed;
  for (const [at, key] of keys.slice(0, -1).entries()) {
    const next: unknown = Reflect.get(owner, key);
    const child: object = typeof next === 'object' && next !== null ? next : /^\d+$/.test(keys[at + 1] ?? '') ? [] : {};
    Reflect.set(owner, key, child);
    owner = child;
  }
  Reflect.set(owner, keys.at(-1) ?? '', value);
  return changed;
}

const genericPath = (path: string): string => path.replaceAll(/\[\d+\]/g, '[]').replaceAll(/\{[^}]*\}/g, '{}');

/** Returns the trace of a pod. Several changes have the same original pod. */
function traceOf({ resize, taints }: FieldChange, pod: Pod): Promise<string> {
  const key = JSON.stringify([pod, resize, taints]);
  const trace = traces.get(key) ?? tracePod(pod, { update: resize && withResources(pod, resize), taints });
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

test('two runs of the same pod have the same trace, so each difference is the effect of a field', async () => {
  const [first] = fieldChanges;
  const pod = podWith('web', first?.spec);
  expect(await tracePod(pod)).toBe(await tracePod(pod));
});

test.each(singleValueChanges)('C46: a pod with a different value of the field $path is rejected', (change) => {
  expect(problemsOf(podWith('web', change.spec))).toEqual([]);
  expect(problemsOf(podWith('web', withChange(change)))).not.toEqual([]);
});

const actingRows = [...treatmentByPath].filter(
  ([, { treatment, owner }]) => treatment === 'takes effect' && !CLUSTER_COMPONENTS.has(owner),
);

test('C46: every field that takes effect is shown to take effect, except for listed fields', () => {
  const shownRows = new Set(
    [...fieldChanges, ...singleValueChanges].map(({ path }) => findTreatment(genericPath(path))),
  );
  const otherRows = actingRows.map(([path]) => path).filter((path) => !shownRows.has(path));
  expect(otherRows.toSorted()).toEqual(unobservedRows.toSorted());
});

test.each(unobservedRows)('C46: the file that implements the field %s mentions it', (path) => {
  const name = path.split('.').at(-1)?.replace(/\[\]$/, '') ?? path;
  const owner = treatmentByPath.get(path)?.owner ?? '';
  expect(readFileSync(join(root, owner), 'utf8')).toMatch(new RegExp(`\\b${name}\\b`));
});
