/** What each state of what keeps the node in its cluster means. */
type Meanings = Readonly<Record<string, string>>;

export const registration: Meanings = {
  awaitingRuntime:
    'The Node object is to tell from the start what the runtime is. After 5 s without an answer it is created all the same.',
  registering: 'The API server is asked to create the Node object, or one that is there already is brought up to date.',
  awaitingRegistration: 'The node could not be registered. It is tried again after a wait that grows up to 7 s.',
  creatingCsiNode: 'The node is registered. Its CSINode object is created, unless it is there already.',
  awaitingCsiNode:
    'The CSINode could not be created. It is tried again after a wait; until then the node is not ready.',
  registered: 'The cluster has the Node and its CSINode.',
};

export const nodeStatus: Meanings = {
  awaitingRegistration: 'There is no Node object yet whose status could be reported.',
  settling:
    'The node may find out that it is ready before its status is reported: a restart of the agent makes no node unready.',
  reporting: 'The status of the node is sent, if it has changed or was not sent for a while.',
  current: 'The cluster has the status. It is looked at again after ten seconds, or as soon as something changes.',
  awaitingRetry: 'The status could not be sent. It is tried again after ten seconds, or as soon as something changes.',
};

export const lease: Meanings = {
  renewing: 'The API server is asked to renew the lease, or to create it.',
  current: 'The lease holds. It is renewed four times in the time that it lasts.',
  awaitingNode:
    'The cluster has no Node object, and so needs no lease. It is looked at again as often as a lease is renewed.',
  awaitingRetry:
    'The lease could not be renewed. It is tried again after a wait that grows up to 7 s, before the cluster takes the node for dead.',
};

export const mirror: Meanings = {
  deciding: 'What the API server has of this name is compared with the static pod that the node runs.',
  held: 'The mirror stays as it is for now: its static pod still ends, or not every pod source has listed its pods.',
  awaitingNode: 'A mirror pod belongs to the Node object, which is not there yet.',
  creating: 'The API server is asked to create the mirror pod.',
  awaitingWatch: 'The mirror pod was created. It counts once the watch of pods shows it.',
  current: 'The API server shows the static pod as it is.',
  removing:
    'The mirror pod is removed at once: it is of another version of the static pod, is being deleted, or has none.',
  removed: 'Neither a static pod nor a mirror pod has this name any more.',
  awaitingRetry:
    'The API server has refused, or could not be reached. It is tried again after a wait that grows up to a minute; the static pod runs on.',
};

export const certificate: Meanings = {
  reading: 'The files of the certificate are read. An earlier agent, or a kubelet, may have left one.',
  awaitingFiles: 'The files could not be read. They are read again after a wait that grows up to 32 s.',
  current:
    'There is a certificate. Another is asked for between 70 and 90 % of its life, or when the Node has other addresses.',
  choosing: 'A new certificate is due. A server waits until it is known what its certificate has to name.',
  awaitingNames: 'The Node has no IP address yet, or the API server has not told of it.',
  requesting: 'A new key is made, and the API server is asked for a certificate for it.',
  awaitingApproval:
    'The request has to be approved and signed, which may need a person. After 15 minutes there is a new request.',
  awaitingRetry:
    'The request failed, was denied or not answered. Another is made after a wait that grows up to 32 s. A kubelet whose certificate has expired ends after 5 minutes; this node goes on.',
};
