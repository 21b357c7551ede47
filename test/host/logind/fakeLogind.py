"""A login manager and a service manager on a private message bus, as far as a node calls them.

Usage: fakeLogind.py SOCKET CONFIG_DIRECTORY DELAY_MICROSECONDS. Commands on the standard input: `announce true`,
`announce false`, `refuse` (all further locks). The standard output reports each lock, release and reload.
"""
import os
import re
import selectors
import socket
import struct
import sys

SOCKET, CONFIG_DIRECTORY, DELAY = sys.argv[1], sys.argv[2], int(sys.argv[3])
METHOD_CALL, METHOD_RETURN, ERROR, SIGNAL = 1, 2, 3, 4
PATH, INTERFACE, MEMBER, ERROR_NAME, REPLY_SERIAL, DESTINATION, SENDER, SIGNATURE, UNIX_FDS = range(1, 10)
TYPES = {PATH: 'o', REPLY_SERIAL: 'u', SIGNATURE: 'g', UNIX_FDS: 'u'}


def pad(data, size):
    return data + bytes(-len(data) % size)


def string(value):
    text = value.encode()
    return struct.pack('<I', len(text)) + text + b'\0'


def field(code, value):
    kind = TYPES.get(code, 's')
    start = bytes([code, 1]) + kind.encode() + b'\0'
    if kind == 'u':
        return start + struct.pack('<I', value)
    if kind == 'g':
        return start + bytes([len(value)]) + value.encode() + b'\0'
    return start + string(value)


class Bus:
    def __init__(self):
        self.serial = 0
        self.data = b''
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(SOCKET)
        self.socket.sendall(b'\0AUTH EXTERNAL ' + str(os.getuid()).encode().hex().encode() + b'\r\n')
        self.socket.recv(4096)
        self.socket.sendall(b'NEGOTIATE_UNIX_FD\r\n')
        self.socket.recv(4096)
        self.socket.sendall(b'BEGIN\r\n')

    def send(self, kind, fields, signature='', body=b'', fds=()):
        self.serial += 1
        if signature:
            fields = {**fields, SIGNATURE: signature}
        if fds:
            fields = {**fields, UNIX_FDS: len(fds)}
        array = b''
        for code, value in fields.items():
            array = pad(array, 8) + field(code, value)
        header = struct.pack('<BBBBIII', ord('l'), kind, 0, 1, len(body), self.serial, len(array)) + array
        socket.send_fds(self.socket, [pad(header, 8) + body], list(fds))

    def call(self, member, signature='', body=b''):
        bus = 'org.freedesktop.DBus'
        self.send(METHOD_CALL, {PATH: '/org/freedesktop/DBus', INTERFACE: bus, MEMBER: member, DESTINATION: bus},
                  signature, body)

    def receive(self):
        chunk = self.socket.recv(65536)
        if not chunk:
            sys.exit(0)
        self.data += chunk
        while len(self.data) >= 16:
            _, kind, _, _, body_size, serial, array_size = struct.unpack('<BBBBIII', self.data[:16])
            start = (16 + array_size + 7) // 8 * 8
            if len(self.data) < start + body_size:
                return
            message, self.data = self.data[:start + body_size], self.data[start + body_size:]
            yield kind, serial, self.fields(message[16:16 + array_size]), message[start:]

    def fields(self, array):
        fields, at = {}, 0
        while at < len(array):
            at = (at + 7) // 8 * 8
            code, kind = array[at], chr(array[at + 2])
            at += 4
            if kind == 'u':
                fields[code] = struct.unpack_from('<I', array, at)[0]
                at += 4
            elif kind == 'g':
                fields[code] = array[at + 1:at + 1 + array[at]].decode()
                at += array[at] + 2
            else:
                size = struct.unpack_from('<I', array, at)[0]
                fields[code] = array[at + 4:at + 4 + size].decode()
                at += size + 5
        return fields


def strings(body, count):
    values, at = [], 0
    for _ in range(count):
        at = (at + 3) // 4 * 4
        size = struct.unpack_from('<I', body, at)[0]
        values.append(body[at + 4:at + 4 + size].decode())
        at += size + 5
    return values


def report(text):
    print(text, flush=True)


class Logind:
    def __init__(self, bus, selector):
        self.bus, self.selector = bus, selector
        self.delay, self.next_delay, self.refuses = DELAY, DELAY, False

    def handle(self, serial, fields, body):
        answer = {REPLY_SERIAL: serial, DESTINATION: fields[SENDER]}
        member = fields[MEMBER]
        if member == 'Get':
            self.bus.send(METHOD_RETURN, answer, 'v', pad(b'\x01t\0', 8) + struct.pack('<Q', self.delay))
            # A new configuration is applied asynchronously.
            self.delay = self.next_delay
        elif member == 'Inhibit' and not self.refuses:
            reader, writer = os.pipe()
            self.bus.send(METHOD_RETURN, answer, 'h', struct.pack('<I', 0), (writer,))
            os.close(writer)
            self.selector.register(reader, selectors.EVENT_READ, lambda: self.released(reader))
            report('locked ' + '|'.join(strings(body, 4)))
        elif member == 'KillUnit':
            unit, whom = strings(body, 2)
            signal = struct.unpack('<i', body[-4:])[0]
            with open(os.path.join(CONFIG_DIRECTORY, '99-kubelet.conf'), encoding='utf-8') as file:
                self.next_delay = int(re.search(r'^InhibitDelayMaxSec=(\d+)$', file.read(), re.MULTILINE)[1]) * 1_000_000
            report(f'killed {unit} {whom} {signal}')
            self.bus.send(METHOD_RETURN, answer)
        else:
            name = 'org.freedesktop.DBus.Error.AccessDenied'
            self.bus.send(ERROR, {**answer, ERROR_NAME: name}, 's', string('Access denied'))

    def released(self, reader):
        self.selector.unregister(reader)
        os.close(reader)
        report('released')

    def command(self):
        line = sys.stdin.readline()
        if line == '':
            sys.exit(0)
        if line.strip() == 'refuse':
            self.refuses = True
        else:
            manager = 'org.freedesktop.login1.Manager'
            fields = {PATH: '/org/freedesktop/login1', INTERFACE: manager, MEMBER: 'PrepareForShutdown'}
            self.bus.send(SIGNAL, fields, 'b', struct.pack('<I', line.strip() == 'announce true'))


def main():
    bus, selector = Bus(), selectors.DefaultSelector()
    logind = Logind(bus, selector)
    bus.call('Hello')
    for name in ('org.freedesktop.login1', 'org.freedesktop.systemd1'):
        bus.call('RequestName', 'su', pad(string(name), 4) + struct.pack('<I', 0))

    def receive():
        for kind, serial, fields, body in bus.receive():
            if kind == METHOD_CALL:
                logind.handle(serial, fields, body)
            elif kind == METHOD_RETURN and fields.get(REPLY_SERIAL) == bus.serial:
                report('ready')

    selector.register(bus.socket, selectors.EVENT_READ, receive)
    selector.register(sys.stdin, selectors.EVENT_READ, logind.command)
    while True:
        for key, _ in selector.select():
            key.data()


main()
