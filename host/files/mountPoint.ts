/** What is mounted at a path. */
export interface MountPoint {
  /** An absolute path without symbolic links. */
  readonly path: string;
  /** The file system's type: `tmpfs`, `cgroup2`, … */
  readonly type: string;
}
