/** The node's own credentials for registries: read from the files that a kubelet has them from, again for each pull. */
import { join } from 'node:path';
import { type FileSystem, hostFiles } from '../../../host/files/fileSystem.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { type Credential, credentialsFor, type Keyring, readKeyring } from '../../../kubernetes/images/keyring.ts';
import type { PodTokens } from '../../../kubernetes/objects/podObjects.ts';

/** What is to be pulled, and for whom. */
export interface CredentialQuery {
  /** With its registry, without tag and digest: `docker.io/library/busybox`. */
  readonly repository: string;
  /** Undefined for a pull on behalf of no pod: a plugin that needs a service account gives nothing then. */
  readonly pod?: Pod | undefined;
  readonly signal: AbortSignal;
  /** What a pod can show of its service account; absent: it belongs to no cluster. */
  readonly tokens?: PodTokens | undefined;
  readonly findServiceAccount?: FindServiceAccount | undefined;
}

/** Finds what the node has of its own for a repository, the credentials to try first at the beginning. */
export type FindCredentials = (asked: CredentialQuery) => Promise<Credential[]>;

interface ServiceAccount {
  readonly uid: string;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Reads a service account; rejects where it is not there, or cannot be read. */
export type FindServiceAccount = (
  account: { readonly namespace: string; readonly name: string },
  options: { readonly signal: AbortSignal },
) => Promise<ServiceAccount>;

export const noCredentials: FindCredentials = async () => [];

interface Places {
  /** That of the node. */
  readonly rootDir: string;
  readonly workingDir: string;
  /** The user's, in whose `.docker` docker keeps them. */
  readonly homeDir: string;
  /** Where these are; absent: the host's own. */
  readonly files?: FileSystem;
  /** Told once of each file that cannot be used, until it can; never with what is in it. */
  readonly onUnusable: (file: string, why: string) => void;
}

/** Finds the node's own credentials for a repository, such as `docker.io/library/busybox`. */
export const nodeCredentials = (places: Places): FindCredentials => {
  const find = fileCredentials(places);
  return ({ repository }) => find(repository);
};

/**
 * Reads the files in the kubelet's order: a `config.json` before a `.dockercfg`. The first one that can be read counts.
 */
function fileCredentials(places: Places): (repository: string) => Promise<Credential[]> {
  const { rootDir, workingDir, homeDir, files = hostFiles, onUnusable } = places;
  const candidates = [
    ...[rootDir, workingDir, join(homeDir, '.docker'), '/.docker'].map((directory) => ({
      file: join(directory, 'config.json'),
      form: 'config.json' as const,
    })),
    ...[rootDir, workingDir, homeDir, '/'].map((directory) => ({
      file: join(directory, '.dockercfg'),
      form: '.dockercfg' as const,
    })),
  ];
  const warned = new Set<string>();
  const tell = (file: string, why: string) => {
    if (!warned.has(file)) onUnusable(file, why);
    warned.add(file);
  };
  return async (repository) => {
    for (const { file, form } of candidates) {
      const keyring = await keyringIn(files, { file, form }, tell);
      if (keyring === undefined) continue;
      warned.delete(file);
      return credentialsFor(repository, keyring);
    }
    return [];
  };
}

async function keyringIn(
  files: FileSystem,
  { file, form }: { readonly file: string; readonly form: 'config.json' | '.dockercfg' },
  tell: (file: string, why: string) => void,
): Promise<Keyring | undefined> {
  const read = await files.readFile(file).catch((error: NodeJS.ErrnoException) => error);
  if (typeof read !== 'string') {
    if (read.code !== 'ENOENT' && read.code !== 'ENOTDIR') tell(file, `cannot be read (${read.code ?? read.name})`);
    return undefined;
  }
  const keyring = readKeyring(read, form);
  if (keyring === undefined) tell(file, `expected JSON with ${form === 'config.json' ? '"auths"' : 'registries'}`);
  return keyring;
}
