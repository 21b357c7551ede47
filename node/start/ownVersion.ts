import { kubeletVersion } from '../host/hostIdentity.ts';
import { packageVersion } from '../host/paths.ts';

/** Version information with the field names of `kubectl version`. */
export interface VersionInfo {
  readonly gitVersion: string;
  /** The version that the node reports as its kubelet version. */
  readonly kubeletVersion?: string | undefined;
  readonly nodeVersion: string;
  readonly platform: string;
}

/** Returns the version information of this process. */
export const ownVersion = (): VersionInfo => ({
  gitVersion: `v${packageVersion()}`,
  kubeletVersion: kubeletVersion(),
  nodeVersion: process.version,
  platform: `${process.platform}/${process.arch}`,
});
