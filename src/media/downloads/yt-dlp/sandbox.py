# Starts a program in a network namespace whose only way out is one UNIX socket, the one of our guarded proxy.
# Arguments: port socket program [argument...]. Without a program it only tries whether the namespace can be used.

import fcntl
import os
import socket
import struct
import sys
import threading

SIOCSIFFLAGS = 0x8914
IFF_UP = 0x1
CHUNK = 1 << 16


def enable_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", IFF_UP))


def copy(source, target):
    try:
        while True:
            chunk = source.recv(CHUNK)
            if not chunk:
                break
            target.sendall(chunk)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def connect(client, path):
    with client, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as proxy:
        try:
            proxy.connect(path)
        except OSError:
            return
        upward = threading.Thread(target=copy, args=(client, proxy), daemon=True)
        upward.start()
        copy(proxy, client)
        upward.join()


def bridge(listener, path, alive):
    # The program holds the other end of the pipe for as long as it runs: no bridge survives it.
    threading.Thread(target=lambda: (os.read(alive, 1), os._exit(0)), daemon=True).start()
    while True:
        client, _ = listener.accept()
        threading.Thread(target=connect, args=(client, path), daemon=True).start()


def main():
    port, path, *program = sys.argv[1:]
    enable_loopback()
    listener = socket.create_server(("127.0.0.1", int(port)))
    if not program:
        return
    alive, held = os.pipe()
    if os.fork() == 0:
        os.close(held)
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        bridge(listener, path, alive)
    os.set_inheritable(held, True)
    os.execvp(program[0], program)


main()
