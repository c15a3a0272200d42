/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What processes of other jobs say before there is a communicator: names of ports, the words at a port, and
 * introductions. The first byte chooses.
 *
 * usage: fuzz_port FILE...
 */
#include "mpi/make/introduction.h"
#include "os/net/port_name.h"
#include "test/fuzz/main.h"

static void read_name(const uint8_t *bytes, size_t len)
{
    struct os_port_name name, again;
    char text[OS_PORT_TEXT], *given = strndup((const char *)bytes, len);
    require(given != NULL, "no memory");
    if (!os_port_name_read(&name, given)) {
        require(name.count > 0 && name.count <= OS_PORT_ADDRESSES && name.port, "a name without an address");
        os_port_name_print(&name, text);
        require(!os_port_name_read(&again, text), "it does not come back");
        require(again.port == name.port && !memcmp(again.secret, name.secret, OS_PORT_NONCE), "it comes back as another one");
    }
    free(given);
}

static void read_words(const uint8_t *bytes, size_t len)
{
    static const uint8_t secret[OS_PORT_NONCE] = "nobody knows it";
    struct os_port_talk talk = {{1}, {2}};
    uint8_t word[OS_PORT_WORD] = {0};
    memcpy(word, bytes, len < OS_PORT_WORD ? len : OS_PORT_WORD);
    (void)os_port_hello_get(word, &talk);
    require(!os_port_answer_get(word, &talk, secret), "an answer by guessing");
    require(!os_port_proof_get(word, &talk, secret), "a proof by guessing");
    require(!os_port_welcome_get(word, &talk, secret), "a welcome by guessing");
}

static void read_introduction(const uint8_t *bytes, size_t len)
{
    struct mpid_introduction who, again;
    if (len < INTRODUCTION_MIN || introduction_get(bytes, len, &who))
        return;
    size_t size = introduction_size(&who);
    require(size <= len, "longer than its bytes");
    uint8_t *back = malloc(size);
    require(back != NULL, "no memory");
    introduction_put(back, &who);
    require(!introduction_get(back, size, &again), "it does not come back");
    require(again.rank == who.rank && !strcmp(again.card, who.card) && !strcmp(again.host, who.host), "it comes back as another one");
    introduction_free(&again);
    introduction_free(&who);
    free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (!len)
        return 0;
    switch (bytes[0] % 3) {
    case 0: read_name(bytes + 1, len - 1); break;
    case 1: read_words(bytes + 1, len - 1); break;
    default: read_introduction(bytes + 1, len - 1); break;
    }
    return 0;
}
