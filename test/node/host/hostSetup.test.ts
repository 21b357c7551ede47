import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import type { HostSetup } from '../../../node/config/nodeConfig.ts';
import { setUpHost } from '../../../node/host/hostSetup.ts';

/** A directory with the layout of /proc/sys. */
let procSys: string;
beforeEach(async () => {
  procSys = await mkdtemp(join(tmpdir(), 'statelet-sysctl-'));
  await mkdir(join(procSys, 'kernel'));
  await writeFile(join(procSys, 'kernel/panic'), '0\n');
});
afterEach(() => rm(procSys, { recursive: true }));

/** Sets up a host with these settings. Returns its messages and the commands of iptables. */
async function setUp(settings: Partial<HostSetup>) {
  const messages: string[] = [];
  const commands: string[] = [];
  const record = (message: string) => void messages.push(message);
  const clock = new SimulatedClock();
  const stop = await setUpHost(
    { kernelParameters: 'unchanged', createsUtilChains: false, maxOpenFiles: 1_000, ...settings },
    {
      logger: { info: record, warn: record },
      clock,
      // The limits of the test process itself stay unchanged.
      setFileLimit: async (limit) => (limit > 1_000 ? `it cannot be set to ${limit}` : undefined),
      procSys,
      runIptables: async (program, args) => void commands.push([program, ...args].join(' ')),
    },
  );
  return { messages, commands, clock, stop };
}

test('a limit of open files that the kernel refuses is logged, and the start continues', async () => {
  const { messages, stop } = await setUp({ maxOpenFiles: 2 ** 40 });
  stop();
  expect(messages).toEqual(['it cannot be set to 1099511627776']);
});

describe('C25: the setup of a host', () => {
  test('sets the kernel parameters, and logs each change and each failure', async () => {
    const { messages, commands } = await setUp({ kernelParameters: 'set' });
    expect(await readFile(join(procSys, 'kernel/panic'), 'utf8')).toMatch(/^10/);
    expect(messages).toContain('set the kernel parameter kernel/panic from 0 to 10');
    expect(messages).toContainEqual(expect.stringMatching(/^the kernel parameter kernel\/panic_on_oops stays unset/));
    expect(commands).toEqual([]);
  });

  test.each(['unchanged', 'required'] as const)(
    'changes nothing if the parameters are %s',
    async (kernelParameters) => {
      const { commands } = await setUp({ kernelParameters });
      expect(await readFile(join(procSys, 'kernel/panic'), 'utf8')).toBe('0\n');
      expect(commands).toEqual([]);
    },
  );

  test('creates the iptables chains and checks them each minute until it is stopped', async () => {
    const { commands, clock, stop } = await setUp({ createsUtilChains: true });
    expect(commands).toContainEqual(expect.stringMatching(/^iptables .* -N KUBE-FIREWALL -t filter$/));
    expect(await readFile(join(procSys, 'kernel/panic'), 'utf8')).toBe('0\n');
    commands.length = 0;
    await clock.advance(60_000);
    expect(commands).toContainEqual(expect.stringMatching(/^ip6tables .* -S KUBE-KUBELET-CANARY -t mangle$/));
    stop();
    commands.length = 0;
    await clock.advance(120_000);
    expect(commands).toEqual([]);
  });
});
