import type { StartThread } from '../sources/manifest/manifestReader.ts';
import { parseAllManifests } from '../sources/manifest/manifestText.ts';

/** Parses large manifests on the calling thread. */
export const startInlineReader: StartThread = () => ({
  isAlive: true,
  read: async (text) => [...parseAllManifests(text)],
  terminate: () => {},
});
