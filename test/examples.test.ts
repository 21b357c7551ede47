import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { resolveTexts } from '../actors/sources/manifest/resolveTexts.ts';
import { EMPTY_PARSED_TEXT, updateText } from '../actors/sources/textDocuments.ts';
import { withDefaults } from '../kubernetes/api/defaults/defaults.ts';
import { readManifest } from '../kubernetes/api/pods/manifest.ts';
import { toStaticPod } from '../kubernetes/api/pods/staticPod.ts';
import { validatePod } from '../kubernetes/api/validate.ts';
import { findPlugin } from '../volume/plugins/plugin.ts';
import { volumePlugins } from '../volume/plugins/plugins.ts';
import { readDocuments } from './fakes/manifests.ts';
import { root } from './support/root.ts';

const folder = path.join(root, 'examples/pods');
const files = readdirSync(folder);

/** Reads an example as the node does. */
function exampleOf(file: string) {
  const result = readManifest(parse(readFileSync(path.join(folder, file), 'utf8')));
  if (!('pod' in result)) throw new Error(`${file}: ${JSON.stringify(result.problems)}`);
  const source = { nodeName: 'node', source: 'file', origin: path.join(folder, file), seenAt: 0 } as const;
  return { warnings: result.warnings, pod: withDefaults(toStaticPod(result.pod, source)) };
}

test('the examples show a server, a crash, a success and the host', () => {
  expect(files).toEqual(['crash.yaml', 'host.yaml', 'once.yaml', 'web.yaml']);
});

describe('every example can run beside every other one, without a registry', () => {
  test.each(files)('%s', (file) => {
    const { pod, warnings } = exampleOf(file);
    expect(warnings).toEqual([]);
    expect(validatePod(pod)).toEqual([]);
    expect(pod.metadata.name).toBe(`${path.parse(file).name}-node`);
    for (const volume of pod.spec.volumes ?? []) expect(() => findPlugin(volumePlugins, volume)).not.toThrow();
    for (const container of pod.spec.containers) {
      expect(container).toMatchObject({ image: 'statelet.local/busybox:1', imagePullPolicy: 'IfNotPresent' });
      expect((container.ports ?? []).filter(({ hostPort }) => hostPort !== undefined)).toEqual([]);
    }
  });
});

test('that of a node without a cluster brings the ConfigMap and the Secret that its pod names', async () => {
  const file = path.join(folder, '..', 'standalone', 'notes.yaml');
  const text = await updateText(EMPTY_PARSED_TEXT, readDocuments(readFileSync(file, 'utf8')), async () => {});
  const { pods, objects, problems, warnings } = resolveTexts(new Map([[file, text]]), new Map(), {
    textNoun: 'file',
    searchedLocation: folder,
  });
  expect([...problems, ...warnings]).toEqual([]);
  expect(objects.map(({ object: { kind, name } }) => `${kind} ${name}`)).toEqual(['ConfigMap notes', 'Secret notes']);
  expect(pods.map(({ metadata }) => metadata.name)).toEqual(['notes-node']);
  for (const volume of pods[0]?.spec.volumes ?? []) expect(() => findPlugin(volumePlugins, volume)).not.toThrow();
});
