import { execFile } from 'node:child_process';
import { mkdir, open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { runProgram } from '../../host/program.ts';
import { mapProcesses, readCommandLine } from '../../host/runningProcess.ts';

const { signal } = new AbortController();

/** A file system (FUSE) that answers nothing: whoever looks into it waits in the kernel until it ends. */
export interface HangingVolume {
  readonly directory: string;
  /** Takes what the next look into it asks for: who looks waits for the answer, and no signal ends it any more. */
  swallow(): Promise<void>;
  /** How many processes have its path on their command line. */
  lookers(): Promise<number>;
  /** Whoever waits for it fails, and it is mounted no more. */
  end(): Promise<void>;
}

/** Mounts it on a new directory. Only root may. */
export async function hangingVolume(directory: string): Promise<HangingVolume> {
  await mkdir(directory);
  const device = await open('/dev/fuse', 'r+');
  const options = 'fd=3,rootmode=40000,user_id=0,group_id=0,allow_other';
  const args = ['-t', 'fuse', '-o', options, 'hanging', directory];
  await runProgram('mount', args, { signal, timeoutMs: 10_000, passedFd: device.fd });
  let hasBegun = false;
  return {
    directory,
    swallow: async () => {
      const request = Buffer.alloc(256 * 1024);
      if (!hasBegun) {
        await device.read(request);
        await device.write(welcome(request.readBigUInt64LE(8)));
        hasBegun = true;
      }
      await device.read(request);
    },
    lookers: async () => {
      const own = await mapProcesses(async (pid) =>
        (await readCommandLine(pid)).some((part) => part.includes(directory)) ? pid : undefined,
      );
      return own.length;
    },
    end: async () => {
      await device.close();
      await promisify(execFile)('umount', ['--lazy', '--no-canonicalize', directory]);
    },
  };
}

/** The answer to the kernel's first request, after which it sends others. */
function welcome(unique: bigint): Buffer {
  const [header, body] = [16, 64];
  const answer = Buffer.alloc(header + body);
  answer.writeUInt32LE(answer.length, 0);
  answer.writeBigUInt64LE(unique, 8);
  const [major, minor, largestWrite] = [7, 31, 4096];
  answer.writeUInt32LE(major, header);
  answer.writeUInt32LE(minor, header + 4);
  answer.writeUInt32LE(largestWrite, header + 20);
  return answer;
}
