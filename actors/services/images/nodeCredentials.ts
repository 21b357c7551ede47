/** Reads the node's own registry credentials from the kubelet's files on every pull. */
import { join } from 'node:path';
import { type FileSystem, hostFiles } from '../../../host/files/fileSystem.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { type Credential, credentialsFor, type Keyring, readKeyring } from '../../../kubernetes/images/keyring.ts';
import type { PodTokens } from '../../../kubernetes/objects/podObjects.ts';

export interface CredentialQuery {
  /** The registry and repository without a tag or digest, e.g. `docker.io/library/busybox`. */
  readonly repository: string;
  /** Undefined for a pull without a pod, in which case plugins that need a service account return no credentials. */
  readonly pod?: Pod | undefined;
  readonly signal: AbortSignal;
  /** Tokens of the pod's service account. Undefined if the node does not belong to a cluster. */
  readonly tokens?: PodTokens | undefined;
  readonly findServiceAccount?: FindServiceAccount | undefined;
}

/** Returns the node's credentials for a repository, in the order in which to try them. */
export type FindCredentials = (query: CredentialQuery) => Promise<Credential[]>;

interface ServiceAccount {
  readonly uid: string;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Reads a service account. Rejects if it does not exist or cannot be read. */
export type FindServiceAccount = (
  account: { readonly namespace: string; readonly name: string },
  options: { readonly signal: AbortSignal },
) => Promise<ServiceAccount>;

export const noCredentials: FindCredentials = async () => [];

interface CredentialPaths {
  readonly rootDir: string;
  readonly workingDir: string;
  /** The user's home directory, whose `.docker` contains docker's credentials. */
  readonly homeDir: string;
  /** Defaults to the host's file system. */
  readonly files?: FileSystem;
  /**
   * Called when a file becomes unusable, and again only if the file was usable in between. The reason never contains
   * file contents.
   */
  readonly onUnusable: (file: string, why: string) => void;
}

/** Returns the node's own credentials for a repository, e.g. `docker.io/library/busybox`. */
export const nodeCredentials = (paths: CredentialPaths): FindCredentials => {
  const findInFiles = createFileCredentialFinder(paths);
  return ({ repository }) => findInFiles(repository);
};

/** Uses the first readable file in the kubelet's order, in which each `config.json` precedes every `.dockercfg`. */
function createFileCredentialFinder(paths: CredentialPaths): (repository: string) => Promise<Credential[]> {
  const { rootDir, workingDir, homeDir, files = hostFiles, onUnusable } = paths;
  const candidateFiles = [
    ...[rootDir, workingDir, join(homeDir, '.docker'), '/.docker'].map((directory) => ({
      file: join(directory, 'config.json'),
      form: 'config.json' as const,
    })),
    ...[rootDir, workingDir, homeDir, '/'].map((directory) => ({
      file: join(directory, '.dockercfg'),
      form: '.dockercfg' as const,
    })),
  ];
  const warnedFiles = new Set<string>();
  const warnOnce = (file: string, why: string) => {
    if (!warnedFiles.has(file)) onUnusable(file, why);
    warnedFiles.add(file);
  };
  return async (repository) => {
    for (const { file, form: format } of candidateFiles) {
      const keyring = await readKeyringFile(files, { file, form: format }, warnOnce);
      if (keyring === undefined) continue;
      warnedFiles.delete(file);
      return credentialsFor(repository, keyring);
    }
    return [];
  };
}

async function readKeyringFile(
  files: FileSystem,
  { file, form }: { readonly file: string; readonly form: 'config.json' | '.dockercfg' },
  warn: (file: string, why: string) => void,
): Promise<Keyring | undefined> {
  const contents = await files.readFile(file).catch((error: NodeJS.ErrnoException) => error);
  if (typeof contents !== 'string') {
    if (contents.code !== 'ENOENT' && contents.code !== 'ENOTDIR')
      warn(file, `cannot be read (${contents.code ?? contents.name})`);
    return undefined;
  }
  const keyring = readKeyring(contents, form);
  if (keyring === undefined) warn(file, `expected JSON with ${form === 'config.json' ? '"auths"' : 'registries'}`);
  return keyring;
}
