/** Differences between the requests of the node about itself and those of the kubelet, with the reasons. */
import type { Reason } from './reason.ts';

const KNOWN = ['01-register', '23-nodedelete', '21-restart'];
const STARTS = [...KNOWN, '24-bootstrap'];
const MADE = 'what is made';

export const NODE_REASONS: readonly Reason[] = [
  {
    kubelet: 'was recorded with a runtime that tells neither its handlers nor its features',
    here: 'tells those of the simulated runtime',
    why: 'they belong to the runtime',
    seen: [
      { scenarios: STARTS, about: MADE, what: /^the field POST nodes status\.runtimeHandlers\[0\]\.features\./ },
      { scenarios: STARTS, about: MADE, what: /^the field POST nodes status\.features\.supplementalGroupsPolicy: / },
    ],
  },
  {
    kubelet: 'is ready a quarter of a second after its Node was made: in another second, where that comes between',
    here: 'at once, and no time in the status is another',
    why: 'times are told in whole seconds',
    seen: [
      {
        scenarios: ['01-register', '24-bootstrap'],
        about: 'the status',
        what: /^no patch \{"conditions":\[\{[^}]*"lastHeartbeatTime"[^}]*"KubeletReady"[^}]*\}\]\}$/,
      },
      {
        scenarios: ['01-register', '24-bootstrap'],
        about: 'the status',
        what: /^the patch \{"conditions":\[\{"message":"kubelet is posting ready status","reason":"KubeletReady"[^}]*\}\]\}$/,
      },
    ],
  },
  {
    kubelet: 'looks for its CSINode before it offers its Node once more: what it offers says that it is ready',
    here: 'it looks for that of the Node that is there: what it offers says that this has not happened yet',
    why: 'one that is left of another Node is made anew; the offer is refused in any case, and the Node stays ready',
    seen: [
      {
        scenarios: ['21-restart'],
        about: MADE,
        what: /^no field POST nodes status\.conditions\[3\]: .*"reason":"KubeletReady"/,
      },
      {
        scenarios: ['21-restart'],
        about: MADE,
        what: /^the field POST nodes status\.conditions\[3\]: .*"message":"CSINode is not yet initialized","reason":"KubeletNotReady"/,
      },
    ],
  },
  {
    kubelet: 'names the port that it serves its own API on',
    here: 'no port',
    why: 'the node of this comparison serves none',
    seen: [
      { scenarios: STARTS, about: MADE, what: /^no field POST nodes status\.daemonEndpoints\.kubeletEndpoint\.Port/ },
    ],
  },
  {
    kubelet: 'has a version of Kubernetes',
    here: 'the version of Kubernetes that it behaves as, and its own',
    why: 'whoever looks for what a node can do finds it, and whoever looks for what it is as well',
    seen: [
      { scenarios: STARTS, about: MADE, what: /^no field POST nodes status\.nodeInfo\.kubeletVersion: v1\.36\.2$/ },
      {
        scenarios: STARTS,
        about: MADE,
        what: /^the field POST nodes status\.nodeInfo\.kubeletVersion: v1\.36\.2\+statelet/,
      },
    ],
  },
  {
    kubelet: 'asks for its pods once its Node and its CSINode are made, up to a second later',
    here: 'as soon as it has heard whether it has a Node',
    why: 'pods that are there already start without a wait',
    seen: [
      {
        scenarios: KNOWN,
        about: 'the start',
        what: /^the order of its requests: WATCH \/api\/v1\/pods, POST \/api\/v1\/nodes/,
      },
    ],
  },
  {
    kubelet: 'makes its first lease 10 s after it has found that there is no Node yet',
    here: 'as soon as the Node is made',
    why: 'the cluster knows at once that the node is alive',
    seen: [
      { scenarios: ['01-register'], about: 'requests', what: /^6 PUTs of the lease, a kubelet sends 5$/ },
      { scenarios: ['23-nodedelete'], about: 'requests', what: /^3 PUTs of the lease, a kubelet sends 2$/ },
    ],
  },
  {
    kubelet: 'refers in events about the node to no UID',
    here: 'to that of the Node',
    why: '`kubectl describe node` finds events by it',
    seen: [
      {
        scenarios: [...STARTS, '17-node', '20-runtime'],
        about: 'events',
        what: /^the field involvedObject\.uid$/,
      },
    ],
  },
  {
    kubelet: 'loses what it tells before it has a certificate: it is refused as that of nobody',
    here: 'it is told by the name of the node, once that has a certificate',
    why: 'that the node has started is not lost',
    seen: [{ scenarios: ['24-bootstrap'], about: 'events', what: /^the event Starting kubelet\.$/ }],
  },
  {
    kubelet: 'tells that the limit of all pods is enforced',
    here: 'the same, on a host whose cgroups it may set; the simulated one has none',
    why: 'the limit is not there',
    seen: [{ scenarios: STARTS, about: 'events', what: /^no event Updated Node Allocatable limit across pods$/ }],
  },
  {
    kubelet: 'tells by `ContainerGCFailed` that the runtime does not answer, when it looks for garbage meanwhile',
    here: 'only what could not be removed',
    why: 'that the runtime is away is told by the condition Ready',
    seen: [{ scenarios: ['20-runtime'], about: 'events', what: /^no event rpc error: code = Unavailable/ }],
  },
  {
    kubelet: 'does not ask for its Node while the API server is away; it is ready again 33 s after its return',
    here: 'asks for it at each look at the status, and when its lease is held again, until it is followed again',
    why: 'it is ready again at once',
    seen: [{ scenarios: ['22-outage'], about: 'requests', what: /^9 GETs of the Node, a kubelet sends 0$/ }],
  },
];
