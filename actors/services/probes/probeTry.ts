/** How a try went; what it throws says nothing of the container. */
export interface Try {
  readonly result: 'success' | 'warning' | 'failure';
  readonly message: string;
}
