/** Reads the rules of Kubernetes from docs/conformance.md. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ShownRule } from '../../inspect/protocol.ts';

/** Returns every rule with its first paragraph, without backticks. */
export function readRules(root: string): ShownRule[] {
  const pageText = readFileSync(join(root, 'docs/conformance.md'), 'utf8');
  return [...pageText.matchAll(/^## (C\d+) (.+)\n\n((?:.+\n)+)/gm)].map(([, rule = '', title = '', text = '']) => ({
    rule,
    title,
    text: text.trim().replaceAll('\n', ' ').replaceAll('`', ''),
  }));
}
