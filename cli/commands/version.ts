import * as z from 'zod/mini';
import { ownVersion, type VersionInfo } from '../../node/start/ownVersion.ts';
import { connectAgent } from '../connectAgent.ts';
import { formatObject } from '../output/formatObject.ts';

export interface VersionOptions {
  readonly client?: boolean;
  readonly output?: 'json' | 'yaml';
  readonly rootDir?: string;
  readonly stateDir?: string;
}

const versionSchema = z.object({
  gitVersion: z.string(),
  // Older agents do not send this field.
  kubeletVersion: z.optional(z.string()),
  nodeVersion: z.string(),
  platform: z.string(),
});

/** Prints the version of this command, even if there is no agent, and then the version of the running agent. */
export async function version(options: VersionOptions, write: (text: string) => unknown): Promise<void> {
  const { output } = options;
  const clientVersion = ownVersion();
  let serverVersion: VersionInfo | undefined;
  try {
    if (options.client !== true) serverVersion = await fetchAgentVersion(options);
  } finally {
    if (output) write(await formatObject({ clientVersion, ...(serverVersion ? { serverVersion } : {}) }, output));
    else write(`Client Version: ${clientVersion.gitVersion}\n`);
  }
  if (output || serverVersion === undefined) return;
  write(`Server Version: ${serverVersion.gitVersion}\n`);
  if (serverVersion.kubeletVersion) write(`Kubelet Version: ${serverVersion.kubeletVersion}\n`);
}

async function fetchAgentVersion(options: VersionOptions): Promise<VersionInfo> {
  const agent = await connectAgent(options);
  return versionSchema.parse(await agent.json('/version'));
}
