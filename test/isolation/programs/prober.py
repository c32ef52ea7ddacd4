"""Tries what a list of probes says, each in a process of its own, and prints what came of them as JSON.

A probe is an expression of Python; it succeeds when it yields something true. What it may use besides the standard library is defined here.
One that is marked `last` moves what others need: it is tried when they have ended.
With `open` at the end of the command line there is a proxy that decides nothing: what gets through it is there and answers.
With `pipe HOST PORT` the program is a connection to there, over the proxy of its environment."""

import ctypes, glob, json, os, select, shutil, signal, socket, ssl, stat, struct, subprocess, sys, threading, time, urllib.parse

patience = 6
libc = ctypes.CDLL(None, use_errno=True)


def checked(result):
    """The result of a call of the C library; its error where it failed."""
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return True


def tcp(host, port):
    with socket.create_connection((host, port), patience - 1):
        return True


def udp(host, port, data=b"hello", family=socket.AF_INET):
    with socket.socket(family, socket.SOCK_DGRAM) as end:
        end.settimeout(2)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        end.sendto(data, (host, port))
        return end.recv(4096)


def unix(path):
    with socket.socket(socket.AF_UNIX) as end:
        end.connect(path)
        return True


def ping(host, kind):
    with socket.socket(socket.AF_INET, kind, socket.IPPROTO_ICMP) as end:
        end.settimeout(2)
        end.sendto(b"\x08\x00\xf7\xff\x00\x00\x00\x00", (host, 0))
        return end.recv(256)


def proxy():
    at = urllib.parse.urlsplit(os.environ["http_proxy"])
    end = socket.create_connection((at.hostname, at.port), patience)
    end.settimeout(patience - 1)
    return end


def head_of(end):
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = end.recv(1)
        if not byte:
            break
        head += byte
    return head.decode("latin-1")


class Refused(Exception):
    pass


def tunnel(authority, more=""):
    """A connection through the proxy."""
    end = proxy()
    end.sendall(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n{more}\r\n".encode("latin-1"))
    line = head_of(end).split("\r\n")[0]
    if line.split(" ")[1:2] != ["200"]:
        raise Refused(line)
    return end


def raw(text, until=b"MARK"):
    """What the proxy says to this until it says the mark, which all servers of the test do that nobody may reach."""
    with proxy() as end:
        end.sendall(text.encode("latin-1"))
        said = b""
        try:
            while data := end.recv(65536):
                said += data
                if until in said:
                    return True
        except TimeoutError:
            pass
        raise Refused(said[:200].decode("latin-1"))


def get(url, headers="", until=b"MARK"):
    return raw(f"GET {url} HTTP/1.1\r\nHost: {urllib.parse.urlsplit(url).netloc}\r\n{headers}Connection: close\r\n\r\n", until)


def sh(line):
    ran = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, timeout=patience, stdin=subprocess.DEVNULL)
    if ran.returncode != 0:
        raise Refused((ran.stderr or ran.stdout).strip()[-200:])
    return ran.stdout.strip() or True


def ssh(user, password, host, line="id", over=""):
    options = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o ConnectTimeout=4 -o PreferredAuthentications=password"
    return sh(f"sshpass -p {password} ssh -F /dev/null {options} {over} {user}@{host} '{line}'")


def ssh_over_proxy(user, password, host, line="id"):
    return ssh(user, password, host, line, f'-o ProxyCommand="python3 {os.path.abspath(__file__)} pipe %h %p"')


def read(path):
    with open(path, "rb") as file:
        return file.read(4096)


def to_write(path):
    """Opens for writing, and writes nothing."""
    os.close(os.open(path, os.O_WRONLY | os.O_APPEND))
    return True


def makes(path):
    """Makes a file, and takes it away."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    os.unlink(path)
    return True


def replaces(path):
    """Moves a file away and back."""
    os.rename(path, path + "~")
    os.rename(path + "~", path)
    return True


def any_process(test, file):
    for path in glob.glob(f"/proc/[0-9]*/{file}"):
        try:
            text = read(path)
        except OSError:
            continue
        if test in text:
            return path
    raise Refused("no process has it")


def attempt(probe, report):
    try:
        result = eval(probe["code"], globals())
        answer = {"succeeded": bool(result), "said": repr(result)[:200]}
    except BaseException as error:
        answer = {"succeeded": False, "said": f"{type(error).__name__}: {error}"[:300]}
    os.write(report, json.dumps(answer).encode())
    os._exit(0)


def try_all(probes):
    """All at once: they wait more than they work."""
    running = []
    for probe in probes:
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.setpgid(0, 0)
            os.close(reading)
            attempt(probe, writing)
        os.close(writing)
        running.append((probe, pid, reading))
    end = time.monotonic() + 4 * patience
    for probe, pid, reading in running:
        ready, _, _ = select.select([reading], [], [], max(0, end - time.monotonic()))
        text = os.read(reading, 65536) if ready else b""
        try:
            os.killpg(pid, signal.SIGKILL)
        except OSError:
            pass
        os.waitpid(pid, 0)
        yield probe["name"], json.loads(text) if text else {"succeeded": False, "said": "it did not end"}


def pass_on(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def join(one, other):
    there = threading.Thread(target=pass_on, args=(one, other), daemon=True)
    there.start()
    pass_on(other, one)
    there.join()


def pass_through(client):
    """Connects to whatever is asked for, by whatever the system's resolver makes of its name."""
    with client:
        try:
            method, target, _ = head_of(client).split("\r\n")[0].split(" ", 2)
            url = urllib.parse.urlsplit(target if method != "CONNECT" else f"//{target}")
            server = socket.create_connection((url.hostname, url.port or 80), patience)
        except (OSError, ValueError) as error:
            client.sendall(f"HTTP/1.1 500 {error}\r\n\r\n".encode())
            return
        with server:
            if method == "CONNECT":
                client.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
            else:
                server.sendall(f"{method} {url.path or '/'} HTTP/1.1\r\nHost: {url.netloc}\r\nConnection: close\r\n\r\n".encode())
            join(client, server)


def serve(listener):
    while True:
        client, _ = listener.accept()
        threading.Thread(target=pass_through, args=(client,), daemon=True).start()


def main(how):
    if how[:1] == ["pipe"]:
        end = tunnel(f"{how[1]}:{how[2]}")

        def up():
            while data := os.read(0, 65536):
                end.sendall(data)
            end.shutdown(socket.SHUT_WR)

        threading.Thread(target=up, daemon=True).start()
        end.settimeout(None)
        while data := end.recv(65536):
            os.write(1, data)
        return
    with open(how[0], encoding="utf8") as file:
        probes = json.load(file)
    if how[1:] == ["open"]:
        listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        os.environ["http_proxy"] = f"http://127.0.0.1:{listener.getsockname()[1]}"
        if os.fork() == 0:
            libc.prctl(1, signal.SIGKILL)
            serve(listener)
        listener.close()
    told = {}
    for last in False, True:
        told.update(try_all([probe for probe in probes if probe.get("last", False) == last]))
    print(json.dumps({probe["name"]: told[probe["name"]] for probe in probes}))


if __name__ == "__main__":
    main(sys.argv[1:])
