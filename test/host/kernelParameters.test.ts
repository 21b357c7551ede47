import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  describeWrongParameters,
  findWrongKernelParameters,
  setKernelParameters,
} from '../../host/kernelParameters.ts';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'statelet-sysctl-'));
  for (const [name, value] of Object.entries(required)) write(name, value);
});
afterEach(() => rmSync(root, { recursive: true }));

const required = {
  'vm/overcommit_memory': 1,
  'vm/panic_on_oom': 0,
  'kernel/panic': 10,
  'kernel/panic_on_oops': 1,
  'kernel/keys/root_maxkeys': 1_000_000,
  'kernel/keys/root_maxbytes': 25_000_000,
};
const write = (name: string, value: number) => {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), `${value}\n`);
};
const read = (name: string) => readFileSync(join(root, name), 'utf8');

describe('C25: the kernel parameters that a kubelet requires', () => {
  test('are right if all have the values of a kubelet', async () => {
    expect(await findWrongKernelParameters(root)).toEqual([]);
    expect(await setKernelParameters(root)).toEqual({ changes: [], problems: [] });
  });

  test.each(Object.keys(required))('are wrong if %s has a different value', async (name) => {
    write(name, 7);
    expect(await findWrongKernelParameters(root)).toMatchObject([{ name, actual: 7 }]);
  });

  test("are described in the kubelet's words, several of them as a list", async () => {
    write('kernel/panic', 1);
    const panic = 'invalid kernel flag: kernel/panic, expected value: 10, actual value: 1';
    expect(describeWrongParameters(await findWrongKernelParameters(root))).toBe(panic);
    write('vm/panic_on_oom', 2);
    expect(describeWrongParameters(await findWrongKernelParameters(root))).toBe(
      `[invalid kernel flag: vm/panic_on_oom, expected value: 0, actual value: 2, ${panic}]`,
    );
  });

  test('are set if they are wrong, and the others are left alone', async () => {
    write('kernel/panic', 1);
    expect(await setKernelParameters(root)).toEqual({
      changes: ['set the kernel parameter kernel/panic from 1 to 10'],
      problems: [],
    });
    expect(read('kernel/panic')).toBe('10');
    expect(read('vm/overcommit_memory')).toBe('1\n');
  });

  test('are reported if the kernel does not have them, and are not created', async () => {
    rmSync(join(root, 'kernel/keys'), { recursive: true });
    const { changes, problems } = await setKernelParameters(root);
    expect(changes).toEqual([]);
    expect(problems).toEqual([
      expect.stringContaining('the kernel parameter kernel/keys/root_maxkeys stays unset instead of 1000000: ENOENT'),
      expect.stringContaining('kernel/keys/root_maxbytes'),
    ]);
    rmSync(join(root, 'kernel/panic'));
    await setKernelParameters(root);
    expect(() => read('kernel/panic')).toThrow('ENOENT');
  });
});
