import { type ManifestFile, type ManifestOrigin, podOf } from '../../actors/feeds/manifestFile.ts';
import { loopLimits } from '../../actors/feeds/manifestLimits.ts';
import { type ManifestList, podsOf } from '../../actors/feeds/manifestList.ts';
import type { ReadManifests } from '../../actors/feeds/manifestReader.ts';
import { manifestsIn, type TextKind } from '../../actors/feeds/manifestText.ts';

const nowhere: ManifestOrigin = {
  ...{ source: 'file', origin: '/pods/a.yaml', nodeName: 'node', seenAt: 0, classes: new Map() },
  ...{ before: () => undefined, isLenient: false },
};

function manifestsOf(text: string, kind: TextKind) {
  const read = manifestsIn(text, kind, loopLimits);
  if ('beyond' in read) throw new Error(`the text has ${read.beyond}`);
  return read.manifests;
}

/** Reads every text on the event loop. */
export const readAtOnce: ReadManifests = async (text, kind) => manifestsOf(text, kind);

/** What a node makes of a file's text. */
export function readFileText(text: string, origin: Partial<ManifestOrigin> = {}): ManifestFile {
  const [manifest] = manifestsOf(text, 'file');
  if (manifest === undefined) throw new Error('a file gives a manifest or says why not');
  return podOf(manifest.result, { ...nowhere, ...origin });
}

/** What a node makes of a URL's answer. */
export const readAnswer = (text: string, origin: Partial<ManifestOrigin> = {}): Promise<ManifestList> =>
  podsOf(manifestsOf(text, 'answer'), { ...nowhere, source: 'http', ...origin }, async () => {});
