export interface MountPoint {
  /** Absolute path without symbolic links. */
  readonly path: string;
  /** Type of the file system, e.g. `tmpfs` or `cgroup2`. */
  readonly type: string;
}
