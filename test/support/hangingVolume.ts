import { execFile } from 'node:child_process';
import { mkdir, open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { runProgram } from '../../host/program.ts';
import { mapProcesses, readCommandLine } from '../../host/runningProcess.ts';

const { signal } = new AbortController();

/** A FUSE file system that never responds. A process that accesses it waits in the kernel until `end` is called. */
export interface HangingVolume {
  readonly directory: string;
  /**
   * Reads the next request to the file system without responding. Its process waits, and no signal can kill it any
   * more.
   */
  swallow(): Promise<void>;
  /** Number of processes that have the path of the volume on their command line. */
  lookers(): Promise<number>;
  /** Fails all waiting requests, and unmounts the volume. */
  end(): Promise<void>;
}

/** Mounts a hanging volume on a new directory. Requires root. */
export async function hangingVolume(directory: string): Promise<HangingVolume> {
  await mkdir(directory);
  const device = await open('/dev/fuse', 'r+');
  const options = 'fd=3,rootmode=40000,user_id=0,group_id=0,allow_other';
  const args = ['-t', 'fuse', '-o', options, 'hanging', directory];
  await runProgram('mount', args, { signal, timeoutMs: 10_000, passedFd: device.fd });
  let isInitialized = false;
  return {
    directory,
    swallow: async () => {
      const request = Buffer.alloc(256 * 1024);
      if (!isInitialized) {
        await device.read(request);
        await device.write(initResponse(request.readBigUInt64LE(8)));
        isInitialized = true;
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

/** Returns the response to the kernel's first request (FUSE_INIT), without which the kernel sends no others. */
function initResponse(unique: bigint): Buffer {
  const [header, body] = [16, 64];
  const response = Buffer.alloc(header + body);
  response.writeUInt32LE(response.length, 0);
  response.writeBigUInt64LE(unique, 8);
  const [major, minor, largestWrite] = [7, 31, 4096];
  response.writeUInt32LE(major, header);
  response.writeUInt32LE(minor, header + 4);
  response.writeUInt32LE(largestWrite, header + 20);
  return response;
}
