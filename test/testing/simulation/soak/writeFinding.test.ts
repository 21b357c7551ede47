import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from '@jest/globals';
import { root } from '../../../support/root.ts';

const writeFinding = pathToFileURL(join(root, 'testing/simulation/soak/writeFinding.ts')).href;

test('foreign files remain unchanged if no file descriptor is left', () => {
  const directory = mkdtempSync(join(tmpdir(), 'statelet-kept-'));
  writeFileSync(join(directory, 'soak-6.json'), "somebody else's");
  const code = `
    import { openSync } from 'node:fs';
    import { writeFinding } from ${JSON.stringify(writeFinding)};
    try { for (;;) openSync('/dev/null'); } catch {}
    await writeFinding({ story: { seed: 6 } }, ${JSON.stringify(directory)}).catch(({ code }) => console.log(code));`;
  const args = ['-c', 'ulimit -n 200 && exec "$0" --input-type=module -e "$1"', process.execPath, code];
  try {
    const { stdout } = spawnSync('bash', args, { encoding: 'utf8' });
    expect(stdout).toBe('EMFILE\n');
    expect(readdirSync(directory)).toEqual(['soak-6.json']);
    expect(readFileSync(join(directory, 'soak-6.json'), 'utf8')).toBe("somebody else's");
  } finally {
    rmSync(directory, { recursive: true });
  }
});
