/**
 * Checks and sets the kernel parameters that the kubelet requires (`setupKernelTunables` in
 * `pkg/kubelet/cm/container_manager_linux.go`).
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../base/failure.ts';

const REQUIRED_PARAMETERS = [
  // The kernel always allows memory to be overcommitted.
  ['vm/overcommit_memory', 1],
  // When memory runs out, the kernel kills a process instead of panicking.
  ['vm/panic_on_oom', 0],
  // The host reboots 10 s after a panic.
  ['kernel/panic', 10],
  ['kernel/panic_on_oops', 1],
  // Each container may need a kernel key that counts against the root user's quota, and each key takes 25 bytes.
  ['kernel/keys/root_maxkeys', 1_000_000],
  ['kernel/keys/root_maxbytes', 25_000_000],
] as const;

/** A parameter whose value is not the required one. */
interface WrongParameter {
  /** Path below /proc/sys. */
  readonly name: string;
  readonly expected: number;
  /** Current value. Undefined if it cannot be read. */
  readonly actual: number | undefined;
  /** The kubelet's error message for a wrong value. */
  readonly message: string;
}

const PROC_SYS = '/proc/sys';

export async function findWrongKernelParameters(root = PROC_SYS): Promise<WrongParameter[]> {
  const parameters = await Promise.all(
    REQUIRED_PARAMETERS.map(async ([name, expected]): Promise<WrongParameter | undefined> => {
      try {
        const actual = Number(await readFile(join(root, name), 'utf8'));
        if (actual === expected) return undefined;
        const message = `invalid kernel flag: ${name}, expected value: ${expected}, actual value: ${actual}`;
        return { name, expected, actual, message };
      } catch (error) {
        return { name, expected, actual: undefined, message: messageOf(error) };
      }
    }),
  );
  return parameters.filter((parameter) => parameter !== undefined);
}

/** Joins the messages of several parameters in the format of a Go aggregate error. */
export function describeWrongParameters(parameters: readonly WrongParameter[]): string {
  const messages = parameters.map(({ message }) => message);
  return messages.length === 1 ? messages.join() : `[${messages.join(', ')}]`;
}

/** Sets the parameters until the next boot. Returns a sentence for each change and for each failure. */
export async function setKernelParameters(
  root = PROC_SYS,
): Promise<{ readonly changes: readonly string[]; readonly problems: readonly string[] }> {
  const changes: string[] = [];
  const problems: string[] = [];
  for (const { name, expected, actual } of await findWrongKernelParameters(root)) {
    try {
      // Do not create the file if it is missing, because then the kernel does not have that parameter.
      await writeFile(join(root, name), String(expected), { flag: 'r+' });
      changes.push(`set the kernel parameter ${name} from ${actual} to ${expected}`);
    } catch (error) {
      problems.push(
        `the kernel parameter ${name} stays ${actual ?? 'unset'} instead of ${expected}: ${messageOf(error)}`,
      );
    }
  }
  return { changes, problems };
}
