/**
 * esbuild plugin that strips the descriptions of states from the daemon's bundle, because only drawings and exported
 * charts show them and V8 retains the bundle's whole text in memory.
 */
import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';

/** Matches a description as the formatter writes it: one string, possibly on a line of its own. */
const DESCRIPTION_PATTERN = /\bdescription:\s*'(?:[^'\\\n]|\\.)*'(?:,|(?=\s*\}))/g;

/** Replaces descriptions with empty lines, so that the line numbers in the source map remain correct. */
const removeDescriptions = (text: string): string =>
  text.replaceAll(DESCRIPTION_PATTERN, (match) => '\n'.repeat(match.split('\n').length - 1));

export const withoutDescriptions: Plugin = {
  name: 'without-descriptions',
  setup({ onLoad }) {
    onLoad({ filter: /\/machines\/.*\.ts$/ }, async ({ path }) => ({
      contents: removeDescriptions(await readFile(path, 'utf8')),
      loader: 'ts',
    }));
  },
};
