import type { ManifestFile, ManifestOrigin } from '../../actors/sources/manifestFile.ts';
import { loopLimits } from '../../actors/sources/manifestLimits.ts';
import type { ReadManifests } from '../../actors/sources/manifestReader.ts';
import { type ManifestText, manifestsIn, type ReadManifest } from '../../actors/sources/manifestText.ts';

const nowhere: ManifestOrigin = {
  ...{ source: 'file', origin: '/pods/a.yaml', nodeName: 'node', seenAt: 0, classes: new Map() },
  ...{ admitted: new Map(), isLenient: false },
};

function manifestsOf(text: ManifestText) {
  const read = manifestsIn(text, loopLimits);
  if ('beyond' in read) throw new Error(`the text has ${read.beyond}`);
  return [...read.manifests];
}

/** Reads every text on the event loop. */
export const readAtOnce: ReadManifests = async (text) => manifestsOf(text);

/** What a node makes of a file's text. */
export function readFileText(text: string, origin: Partial<ManifestOrigin> = {}): ManifestFile {
  const [manifest] = manifestsOf({ text, kind: 'file', origin: { ...nowhere, ...origin } });
  if (manifest === undefined) throw new Error('a file gives a manifest or says why not');
  return manifest.read;
}

/** What a node makes of each document and item of a URL's answer. */
export const readAnswer = (text: string, origin: Partial<ManifestOrigin> = {}): readonly ReadManifest[] =>
  manifestsOf({ text, kind: 'answer', origin: { ...nowhere, source: 'http', ...origin } });
