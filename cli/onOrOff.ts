/** As a kubelet's flags: on as soon as it is named, unless a value says otherwise. */
export const onOrOff = (value: string): boolean | string =>
  value === 'true' || value === 'false' ? value === 'true' : value;
