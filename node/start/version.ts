import { kubeletVersion } from '../host/hostIdentity.ts';
import { packageVersion } from '../host/places.ts';

/** What a program of the package says of itself, as kubectl has it. */
export interface VersionInfo {
  readonly gitVersion: string;
  /** The kubelet that it is like. */
  readonly kubeletVersion?: string | undefined;
  /** The Node.js that it runs on. */
  readonly nodeVersion: string;
  readonly platform: string;
}

/** The versions of this process. */
export const ownVersion = (): VersionInfo => ({
  gitVersion: `v${packageVersion()}`,
  kubeletVersion: kubeletVersion(),
  nodeVersion: process.version,
  platform: `${process.platform}/${process.arch}`,
});
