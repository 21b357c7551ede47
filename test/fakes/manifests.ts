import type { ManifestFile, ManifestOrigin } from '../../actors/sources/manifest/manifestFile.ts';
import { loopLimits } from '../../actors/sources/manifest/manifestLimits.ts';
import type { ReadManifests } from '../../actors/sources/manifest/manifestReader.ts';
import {
  type ManifestText,
  parseAllManifests,
  parseManifests,
  type ReadManifest,
} from '../../actors/sources/manifest/manifestText.ts';

const nowhere: ManifestOrigin = {
  source: 'file',
  origin: '/pods/a.yaml',
  nodeName: 'node',
  firstSeenAt: 0,
  classes: new Map(),
  admittedPods: new Map(),
  isLenient: false,
};

function manifestsOf(text: ManifestText) {
  const read = parseManifests(text, loopLimits);
  if ('beyond' in read) throw new Error(`the text has ${read.beyond}`);
  return [...read.manifests];
}

/** Reads every text on the event loop, without a thread. */
export const readAtOnce: ReadManifests = async (text) => manifestsOf(text);

/** Returns the manifest that the node reads from the text of a file. */
export function readFileText(text: string, origin: Partial<ManifestOrigin> = {}): ManifestFile {
  const [manifest] = manifestsOf({ text, kind: 'file', origin: { ...nowhere, ...origin } });
  if (manifest === undefined) throw new Error('a file gives a manifest or says why not');
  return manifest.manifest;
}

/** Returns what the node reads from each document and item of a URL response. */
export const readAnswer = (text: string, origin: Partial<ManifestOrigin> = {}): readonly ReadManifest[] =>
  manifestsOf({ text, kind: 'response', origin: { ...nowhere, source: 'http', ...origin } });

/** Returns what the node reads from each document and item of a file. */
export const readDocuments = (text: string, origin: Partial<ManifestOrigin> = {}): readonly ReadManifest[] => [
  ...parseAllManifests({ text, kind: 'file', origin: { ...nowhere, ...origin } }),
];

/** Manifests on one line each, which `documents` joins with `---`. */
export const podText = (name: string, more = '', image = 'busybox:1') =>
  `{apiVersion: v1, kind: Pod, metadata: {name: ${name}}, spec: {${more}containers: [{name: main, image: '${image}'}]}}\n`;
export const configText = (name: string, data: string, more = '') =>
  `{apiVersion: v1, kind: ConfigMap, metadata: {name: ${name}}, data: {${data}}${more}}\n`;
export const secretText = (name: string, data: string) =>
  `{apiVersion: v1, kind: Secret, metadata: {name: ${name}}, stringData: {${data}}}\n`;
/** The part of a pod spec that mounts a ConfigMap. */
export const ofConfig = (name: string) => `volumes: [{name: c, configMap: {name: ${name}}}], `;
export const ofSecret = (name: string) => `volumes: [{name: s, secret: {secretName: ${name}}}], `;
export const documents = (...texts: readonly string[]): string => texts.join('---\n');
