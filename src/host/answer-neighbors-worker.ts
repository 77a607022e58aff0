// The thread that answers ARP requests and neighbour solicitations: a poll loop and nothing else. An eventfd wakes it when the
// addresses change.
import { type MessagePort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { gratuitousArpFrames, neighborAdvertisementFrame } from './announce-frames.ts';
import type { AnswerOrder, AnswerSettings } from './answer-neighbors.ts';
import { loadCLibrary } from './native.ts';
import { readNeighborFrame } from './neighbor-frames.ts';
import { addressBytes, familyOfText } from './netlink/address-bytes.ts';
import { arpProtocol, ipv6Protocol, openGroupMember, openPacketSocket } from './packet-sockets.ts';
import { createPollLoop, readable } from './poll-loop.ts';

const isIPv6 = (address: string): boolean => familyOfText(address) === 'IPv6';

function answer({ interfaceIndex, macAddress, wake, port }: AnswerSettings): void {
  const loop = createPollLoop();
  const group = openGroupMember(interfaceIndex);
  const sockets = [arpProtocol, ipv6Protocol].map((protocol) =>
    openPacketSocket(interfaceIndex, protocol),
  );
  const [arp, discovery] = sockets;
  let owned: ReadonlySet<string> = new Set();

  const receive = (socket: (typeof sockets)[number]): void => {
    for (let frame = socket.receive(); frame !== undefined; frame = socket.receive()) {
      const message = readNeighborFrame(frame);
      if (message === undefined || !owned.has(message.address)) continue;
      if (message.kind === 'request') socket.send(message.answer(macAddress));
      else if (Buffer.compare(message.by, macAddress) !== 0)
        (port as MessagePort).postMessage({ claimed: message.address });
    }
  };
  const announce = (address: string): void => {
    if (isIPv6(address)) discovery?.send(neighborAdvertisementFrame(macAddress, address));
    else for (const frame of gratuitousArpFrames(macAddress, address)) arp?.send(frame);
  };
  const follow = ({ answerFor, announced, isLast }: AnswerOrder): void => {
    owned = new Set(answerFor);
    group.follow(answerFor.filter(isIPv6).map(addressBytes));
    for (const address of announced) announce(address);
    if (isLast) loop.stop();
  };

  const read = loadCLibrary().signed('long read(int fd, void *bytes, size_t count)');
  const counter = Buffer.alloc(8);
  loop.add(wake, readable, () => {
    read(wake, counter, counter.length);
    for (
      let next = receiveMessageOnPort(port as MessagePort);
      next !== undefined;
      next = receiveMessageOnPort(port as MessagePort)
    ) {
      follow(next.message as AnswerOrder);
    }
  });
  for (const socket of sockets) loop.add(socket.fd, readable, () => receive(socket));
  loop.run();
  for (const socket of sockets) socket.close();
  group.close();
  (port as MessagePort).close();
}

answer(workerData as AnswerSettings);
